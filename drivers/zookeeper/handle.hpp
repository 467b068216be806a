// One ZooKeeper session on one loop: requests as coroutines, a connection that re-establishes
// itself.
//
// A thin layer over the single-threaded C client: it drives zookeeper_interest and
// zookeeper_process from the loop, and turns callbacks into values. It knows nothing of locks and
// does not retry: a request whose connection broke ends as connection_lost.
//
// A session that ended (expired, refused) never comes back; for another one, open a new handle. All
// calls are made on the loop's thread. Source of the protocol: Apache ZooKeeper 3.8.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "drivers/zookeeper/session_socket.hpp"
#include "harness/async/fd_watch.hpp"
#include "harness/async/scope.hpp"
#include "harness/async/signal.hpp"
#include "harness/driver.hpp"

struct _zhandle;

namespace lockmark::zookeeper {

// How a request ended.
enum class status : std::uint8_t {
  ok,
  no_node,
  node_exists,
  not_empty,
  no_rights,        // the node's ACL does not allow it
  rejected,         // the server refused for another reason: reply::code
  connection_lost,  // unknown whether it happened
  silent,           // no reply by its deadline; it may still happen
  session_over,     // expired or closed: ephemeral nodes are gone or going
};

struct reply {
  status ended = status::session_over;
  int code = 0;                    // the C client's ZOO_ERRORS
  std::int64_t czxid = 0;          // create, exists: the transaction that created the node
  std::string text;                // create: the node's full path; get: its data
  std::vector<std::string> names;  // children

  bool ok() const { return ended == status::ok; }
};

// The failure in words: "no answer in time", "not authenticated".
std::string describe_failure(const reply& r);

enum class node_kind : std::uint8_t { persistent, container, ephemeral, ephemeral_sequential };

// A one-shot watch on one node: either its data and existence, or its children.
struct node_watch {
  explicit node_watch(loop& l) : fired(l) {}
  signal fired;  // also set when the session ends, which the waiter has to check
};

struct handle_settings {
  std::string hosts;  // "h1:2181,h2:2181"; names are resolved at once, and that blocks
  duration session_timeout{};
  // "user:password" of the digest scheme. Nodes created then belong to that user alone, except for
  // `open_path`, below which other users create theirs. Empty: nodes are open to everybody.
  std::string login{};
  std::string open_path{};
};

class handle {
 public:
  // Starts to connect. The pump that maintains the connection runs in `tasks` and holds the handle
  // until close(). Throws no_server when a host name cannot be resolved.
  static std::shared_ptr<handle> open(loop& l, scope& tasks, const handle_settings& s);
  ~handle();
  handle(const handle&) = delete;
  handle& operator=(const handle&) = delete;

  // True as soon as requests can be sent; false if the deadline passed or the session ended first.
  task<bool> connected_by(time_point deadline);
  bool connected() const;

  // Returns after `d`, or earlier when the connection or session ends or the connection comes back.
  task<void> pause(duration d);

  // The session has ended for good.
  bool over() const;

  // By this client's clock, the server cannot have expired the session yet.
  bool alive() const;

  duration session_timeout() const;  // as negotiated
  // This end of the connection, "127.0.0.1"; what Curator writes into its nodes.
  const std::string& local_address() const { return local_address_; }
  // Why the last attempt to connect failed, in words; empty if unknown.
  const std::string& last_failure() const { return last_failure_; }

  // Each sends its request at once and returns by the deadline. They throw no_server once the
  // server has sent an invalid message (frames.hpp).
  task<reply> create(const std::string& path, const std::string& data, node_kind kind,
                     time_point deadline);
  // Reads. The watch `w`, if given, is set if the reply is ok (for exists() also if there is no
  // node), and fires at the next change of what was read.
  task<reply> get(const std::string& path, std::shared_ptr<node_watch> w, time_point deadline);
  task<reply> children(const std::string& path, std::shared_ptr<node_watch> w, time_point deadline);
  task<reply> exists(const std::string& path, std::shared_ptr<node_watch> w, time_point deadline);
  task<reply> remove(const std::string& path, time_point deadline);
  // Lets this server catch up with the leader, so that the next read is no older than this call.
  task<reply> sync(const std::string& path, time_point deadline);

  // Has the server forget a watch of children() that may not have fired. Nobody waits for the
  // answer.
  void forget(const std::string& path, std::shared_ptr<node_watch> w);

  // Starts to end the session; the scope is empty when it has ended. Does not block.
  void close();

  // Bytes are the kernel's count for the TCP connections.
  traffic sent() const;

 private:
  struct call;
  struct callbacks;

  handle(loop& l, const handle_settings& s);
  static task<void> pump(std::shared_ptr<handle> self);
  task<void> connect();
  task<void> converse();
  task<void> say_goodbye();
  void look();
  void process(int events);
  bool may_read();
  void disbelieve(const std::string& what);
  void lose_connection();
  void notice_failed_send();
  void session_changed(int state);
  task<bool> changed_by(time_point deadline);
  void wake_everybody();
  void free_session();

  template <class How>
  task<reply> ask(body awaited, std::shared_ptr<node_watch> w, time_point deadline, How how);
  task<reply> finish(std::shared_ptr<call> c, int queued, time_point deadline);
  void answered(call* c, int code);
  std::optional<body> next_awaited() const;  // by the oldest unanswered request, if there is one

  loop& loop_;
  _zhandle* zk_ = nullptr;
  bool closing_ = false;
  const std::string hosts_;
  const bool has_login_;
  const std::string open_path_;

  int duplicate_ = -1;  // of the client's socket, which it closes in the middle of its calls
  std::unique_ptr<fd_watch> watch_;
  unsigned interest_ = 0;
  time_point look_again_at_{};
  bool next_must_fail_ = false;  // the next attempt to connect
  signal poked_;

  // In the order of their requests, which is that of the replies.
  std::deque<std::shared_ptr<call>> asked_;
  inbox inbox_;
  std::string nonsense_;  // the sentence about the server's invalid message
  time_point heard_at_{};
  bool was_connected_ = false;
  std::string local_address_;
  std::string last_failure_;
  std::vector<signal*> waiting_for_change_;
  std::unordered_map<node_watch*, std::shared_ptr<node_watch>> watches_;
  traffic sent_;
};

}  // namespace lockmark::zookeeper
