// Connections to one Redis server: `link` is a connection that is logged in; `connection` is one
// client's, on which a command is asked and answered before the next.
//
// Neither knows locks. A connection connects by itself when a command finds it closed, and closes
// itself when an answer is overdue, so that a late reply is never taken for the next command's.
#pragma once

#include <array>
#include <string>
#include <system_error>
#include <utility>

#include "drivers/redis/resp.hpp"
#include "drivers/redis/script.hpp"
#include "drivers/redis/target.hpp"
#include "harness/async/stream.hpp"
#include "harness/driver.hpp"

namespace lockmark::redis {

class link {
 public:
  // `where` and `count` must outlive this.
  link(loop& l, const target& where, traffic& count) : stream_(l), where_(where), count_(count) {}

  // Connects, logs in and chooses the database. Throws no_server when the server refuses the login.
  task<std::error_code> open(time_point deadline);
  bool is_open() const { return stream_.is_open(); }
  void close() { stream_.close(); }

  // Writes `commands` commands. After an error (also an answer that is not RESP2) the link is
  // closed.
  task<std::error_code> write(std::string_view bytes, std::size_t commands, time_point deadline);
  task<std::error_code> read(reply& into, time_point deadline);

  // The parts of the same, for callers that count coroutines. begin_write: how many bytes the
  // kernel took at once; the rest is finish_write's.
  std::size_t begin_write(std::string_view bytes, std::size_t commands, std::error_code& error);
  task<std::error_code> finish_write(std::string_view rest, time_point deadline);
  // begin_write, for which anything left is an error.
  std::error_code write_now(std::string_view bytes, std::size_t commands);
  // True when `into` is the next reply; false with an error, or when more must be received.
  bool parse(reply& into, std::error_code& error);
  task<received> receive(time_point deadline) { return stream_.read_some(room_, deadline); }
  void feed(const received& got, std::error_code& error);

  const target& where() const { return where_; }

 private:
  task<std::error_code> log_in(time_point deadline);

  stream stream_;
  const target& where_;
  traffic& count_;
  reply_parser parser_;
  std::array<char, 2048> room_;
  bool was_open_ = false;
};

// "redis://h:6379 did not answer in time".
std::string sentence(const target& where, std::error_code error);

// What a reply to a lock's command means. An error never is an ending of a lock: either the server
// cannot work now and has done nothing, or nobody expected this and the run must end.
enum class verdict : std::uint8_t { answer, not_now, unexpected };
verdict judge(const reply& r);

// The first word of a command in RESP.
std::string_view name_of_command(std::string_view bytes);

class connection {
 public:
  connection(loop& l, const target& where, traffic& count)
      : loop_(l), link_(l, where, count), count_(count) {}

  // Throws no_server when that is not possible by the deadline.
  task<void> open(time_point deadline);

  // Asks and waits for the answer, never an error reply. unavailable: nothing was executed. doubt:
  // it was sent, and not answered. Throws no_server for an error that is no lock's ending.
  // REQUIRES, of all that follow: the task is awaited at once, one at a time.
  template <class... Arguments>
  task<outcome<reply>> command(time_point deadline, const Arguments&... arguments) {
    out_.clear();
    append_command(out_, arguments...);
    return exchange(deadline, nullptr);
  }

  // The same by a script, whose text is sent again to a server that has lost it.
  template <class... Arguments>
  task<outcome<reply>> evaluate(time_point deadline, const script& s, int key_count,
                                const Arguments&... arguments) {
    out_.clear();
    append_evalsha(out_, s, key_count, arguments...);
    return exchange(deadline, &s);
  }

  // The same for any number of arguments.
  task<outcome<reply>> evaluate_all(time_point deadline, const script& s, int key_count,
                                    const std::vector<argument>& arguments) {
    std::vector<argument> all{argument{"EVALSHA"}, argument{s.sha1}, argument{key_count}};
    all.insert(all.end(), arguments.begin(), arguments.end());
    out_.clear();
    append_command(out_, std::as_const(all).data(), all.size());
    return exchange(deadline, &s);
  }

  // For what is not part of a lock: error replies are answers too, and no answer is no_server.
  template <class... Arguments>
  task<reply> demand(time_point deadline, const Arguments&... arguments) {
    out_.clear();
    append_command(out_, arguments...);
    return demand_sent(deadline);
  }
  task<reply> demand_all(time_point deadline, const std::vector<argument>& arguments) {
    out_.clear();
    append_command(out_, arguments.data(), arguments.size());
    return demand_sent(deadline);
  }

  // Sends without waiting for the answer, which is thrown away when it comes. Does nothing on a
  // closed connection.
  template <class... Arguments>
  void post(const Arguments&... arguments) {
    out_.clear();
    append_command(out_, arguments...);
    post_sent();
  }

  // True while answers to post() are outstanding.
  bool owed() const { return owed_ > 0; }
  // Waits for them. False: not all came.
  task<bool> settle(time_point deadline);

  void close();

 private:
  enum class errors : std::uint8_t { throw_them, are_answers };
  task<outcome<reply>> exchange(time_point deadline, const script* fallback,
                                errors treatment = errors::throw_them);
  outcome<reply> judged(const reply& r);
  task<reply> demand_sent(time_point deadline);
  void post_sent();
  outcome<reply> lost(std::error_code error);

  loop& loop_;
  link link_;
  traffic& count_;
  std::string out_;  // the command being asked
  std::size_t owed_ = 0;
};

}  // namespace lockmark::redis
