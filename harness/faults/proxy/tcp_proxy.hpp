// Many TCP links on one thread, each of which can be cut, stalled, delayed, or held at one reply.
//
// With no file descriptors left, new clients wait in the door's listen queue until a connection
// ends. Forwards bytes and knows no protocol: a request is what a client sends, and its reply is
// the next bytes that its server sends. Forwarding costs one read and one write. Not a process: see
// serve.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <unordered_map>
#include <vector>

#include "harness/faults/link_mode.hpp"
#include "harness/faults/proxy/half_connection.hpp"
#include "harness/stats/random.hpp"
#include "harness/unique_fd.hpp"

namespace lockmark::faults {

class tcp_proxy {
 public:
  // `on_hit` gets the link of an awaited request once its reply has come and is held back, as with
  // link_mode::hold_reply.
  explicit tcp_proxy(std::function<void(std::size_t link)> on_hit);
  ~tcp_proxy();
  tcp_proxy(const tcp_proxy&) = delete;
  tcp_proxy& operator=(const tcp_proxy&) = delete;

  // Opens a link from a port of 127.0.0.1 (0: any free one) to a server; returns its number, from
  // 0. Connecting takes no longer. Throws std::runtime_error with a sentence.
  std::size_t open(const std::string& host, std::uint16_t port, std::uint16_t listen_on = 0,
                   const link_latency& latency = {});
  std::size_t links() const { return links_.size(); }
  std::uint16_t port(std::size_t link) const;

  // In force when this returns. Held-back bytes are delivered when the mode becomes pass; a held
  // connection only by go().
  void set(std::size_t link, link_mode mode, duration by = {});

  // Holds back the reply to the n-th request, counted from now, that contains `word` and whose
  // reply contains `answer` in its first piece (empty: any reply). The whole connection is held.
  // `word` must not be empty.
  void await(std::size_t link, std::string word, std::uint64_t nth, std::string answer = "");
  // Stops waiting, and releases what was held back.
  void go(std::size_t link);

  // Carries bytes until `other` is readable or has ended.
  void carry_until_readable(int other);
  // The number of wake-ups in carry_until_readable().
  std::uint64_t turns() const { return turns_; }

 private:
  struct connection;
  struct link;
  enum class role : std::uint64_t { other, door, client, server };

  void happened(std::uint64_t tag, std::uint32_t events);
  void accept(link& at);
  void connected(connection& c);
  void carry(connection& c, half_connection& along, bool answers);
  void receive(connection& c, half_connection& along, std::string_view bytes, bool answers);
  void watch_for_word(connection& c, std::string_view bytes);
  bool is_awaited(connection& c, std::string_view answer);
  void settle(connection& c);
  void deliver_due();
  void drop(std::uint64_t number);
  std::vector<connection*> connections_of(const link& at) const;
  void cut_all(link& at);
  void keep_port(link& at);
  void listen(link& at);
  void watch_door(link& at);
  void pause_accepting();
  void go_on_accepting();
  bool frozen(const connection& c) const;
  void want(int descriptor, std::uint32_t& has, std::uint32_t events, std::uint64_t tag);
  duration until_due() const;
  time_point due_for(const link& at);

  real_clock clock_;
  std::function<void(std::size_t)> on_hit_;
  unique_fd epoll_;
  std::vector<std::unique_ptr<link>> links_;
  std::unordered_map<std::uint64_t, std::unique_ptr<connection>> connections_;
  std::uint64_t last_number_ = 0;
  std::uint64_t turns_ = 0;
  // Set while there are no descriptors: when to try again, unless a connection ends before.
  std::optional<time_point> accept_again_;
  // Connections whose next piece is due, as (due, number); some of them have long ended.
  using due_at = std::pair<time_point, std::uint64_t>;
  std::priority_queue<due_at, std::vector<due_at>, std::greater<>> due_;
  std::vector<char> room_;
  stats::random_source random_;
};

}  // namespace lockmark::faults
