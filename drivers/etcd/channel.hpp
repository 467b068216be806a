// One instance's connection to etcd: gRPC calls as coroutines, many at a time over one HTTP/2
// connection, which re-establishes itself at a member that answers. As with the Go client, which
// has one such connection for all of a process.
//
// Knows no locks and does not retry, except for a call that was refused because the login has run
// out, which it makes once more after another login. All calls are made on the loop's thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "drivers/etcd/grpc_session.hpp"
#include "drivers/etcd/servers.hpp"
#include "drivers/etcd/status.hpp"
#include "harness/async/scope.hpp"
#include "harness/async/signal.hpp"
#include "harness/driver.hpp"

namespace lockmark::etcd {

// When a call may begin, and until when its answer is awaited.
struct call_limits {
  call_limits(time_point both) : begin(both), answer(both) {}
  call_limits(time_point b, time_point a) : begin(b), answer(a) {}
  time_point begin;
  time_point answer;
};

struct answer {
  enum class ending : std::uint8_t {
    answered,  // see `what`
    unsent,    // no member has seen it
    silent,    // sent, and not answered in time
    lost,      // sent, and the connection broke before the answer
  };
  ending ended = ending::unsent;
  trouble what = trouble::none;  // none, not_now, unknown or lease_gone
  std::string body{};            // of an answer without trouble

  bool ok() const { return ended == ending::answered && what == trouble::none; }
  // It certainly did not happen.
  bool refused() const {
    return ended == ending::unsent || (ended == ending::answered && what == trouble::not_now);
  }
};

// How an answer that is not ok leaves a change of a lock in doubt. REQUIRES: neither ok nor
// refused.
doubt doubt_of(const answer& a);

class channel final : public std::enable_shared_from_this<channel>, grpc_session::listener {
 public:
  // A call with messages both ways, for as long as the connection lasts. None of these may call the
  // channel.
  class talk {
   public:
    // False: the message is none of this call's.
    virtual bool on_news(std::string_view message) = 0;
    // It has ended, with the call or with the connection.
    virtual void on_over(trouble why) = 0;

   protected:
    ~talk() = default;
  };

  // Starts to connect, to the member with this number first. The pump that keeps the connection
  // runs in `tasks` and holds the channel until close(). `where`, `tasks` and `count` must outlive
  // it.
  static std::shared_ptr<channel> open(loop& l, scope& tasks, const servers& where,
                                       std::size_t first, traffic& count);

  // Throw no_server if what the servers say makes any further attempt useless.
  //
  // True as soon as calls can be made; false if the deadline passed or the channel was closed.
  task<bool> connected_by(time_point deadline);
  // The same, but false as soon as one attempt at each member has failed.
  task<bool> connected_at_once(time_point deadline);
  bool connected() const { return open_; }

  // `path`: "/etcdserverpb.KV/Txn". Throws no_server for an error that is no outcome of a lock.
  task<answer> call(std::string_view path, std::string request, call_limits until);

  // The value of a reply. Throws no_server if there is none.
  template <class T>
  T believed(std::optional<T> read, std::string_view path) const {
    if (!read) throw no_server(nonsense(path));
    return std::move(*read);
  }

  // For an exchange whose answer was token_ended. False: not in time, or not connected.
  task<bool> log_in_again(time_point deadline);

  // 0: not connected. `t` must outlive the talk.
  std::int32_t start_talk(std::string_view path, std::string_view first_message, talk& t);
  void say(std::int32_t id, std::string_view message);

  // When this connection last brought something.
  time_point heard_at() const { return heard_at_; }
  // Gives this member up, and goes on with the next one. Calls under way are lost.
  void distrust(std::string why);

  // Why the last attempt to connect failed, in words: "127.0.0.1:2379: Connection refused"; empty
  // if none has.
  const std::string& last_failure() const { return last_failure_; }
  std::string name() const { return where_.name(); }
  // What to throw when there is no connection in time.
  no_server unreachable() const;

  // Ends the connection; the scope is empty soon afterwards.
  void close();

  // A call of its own, for a caller that does something else meanwhile. Cancelled when it is
  // destroyed before its end. The channel must outlive it.
  class exchange {
   public:
    explicit exchange(channel& c) : on_(c), ended_(c.loop_) {}
    ~exchange();
    exchange(const exchange&) = delete;
    exchange& operator=(const exchange&) = delete;

    // False: not connected. REQUIRES: called once.
    bool begin(std::string_view path, std::string_view request);
    task<bool> ended_by(time_point deadline) { return ended_.wait_until(deadline); }
    // REQUIRES: it has ended. Throws as channel::call does; token_ended is an answer, too. The raw
    // one does not throw.
    answer result() const;
    answer raw() const;
    // Of an answer with trouble, the end of a sentence: "answered Txn with an error: ...".
    std::string complaint() const;

   private:
    friend class channel;
    channel& on_;
    signal ended_;
    std::int32_t id_ = 0;  // while it is under way
    std::string path_;
    std::string body_;
    unsigned messages_ = 0;
    bool lost_ = false;
    call_end end_;
  };

 private:
  struct line;
  enum class rigour : std::uint8_t { may_be_another, is_final };

  channel(loop& l, scope& tasks, const servers& where, std::size_t first, traffic& count);

  static task<void> pump(std::shared_ptr<channel> self);
  task<void> connect();
  task<void> converse(std::shared_ptr<line> here);
  static task<void> see_it_open(std::shared_ptr<channel> self, std::shared_ptr<line> here,
                                time_point limit);
  static task<void> log_in(std::shared_ptr<channel> self, std::shared_ptr<line> here);
  task<bool> log_in_again(std::string ended_token, time_point deadline);
  void introduced();
  void now_open();
  void lose(std::string why, rigour how = rigour::may_be_another);
  void flush();
  void flush_soon();
  static task<void> write_rest(std::shared_ptr<channel> self, std::shared_ptr<line> here);

  task<bool> changed_by(time_point deadline);
  void wake_everybody();
  void check_usable() const;
  task<answer> ask(std::string_view path, const std::string& request, time_point deadline);

  void on_message(std::int32_t call, std::string_view message) override;
  void on_end(std::int32_t call, call_end end) override;

  std::string nonsense(std::string_view path) const;

  loop& loop_;
  scope& tasks_;
  const servers& where_;
  traffic& count_;
  std::size_t member_;              // of where_.hosts
  std::size_t failed_in_row_ = 0;   // attempts to connect
  std::size_t useless_in_row_ = 0;  // of those, at servers that are none of etcd's or refuse us
  std::size_t attempts_ = 0;
  bool closing_ = false;
  bool open_ = false;
  std::shared_ptr<line> line_;  // null: not connected
  time_point heard_at_{};
  bool was_open_ = false;
  bool flush_posted_ = false;
  bool served_ = false;  // by what was received last
  std::string token_;
  bool logging_in_ = false;
  std::string last_failure_;
  std::string useless_;   // why no attempt can succeed any more
  std::string bad_news_;  // a message of a talk that is none
  signal poked_;
  std::vector<signal*> waiting_for_change_;
  std::unordered_map<std::int32_t, exchange*> calls_;
  std::unordered_map<std::int32_t, talk*> talks_;
};

}  // namespace lockmark::etcd
