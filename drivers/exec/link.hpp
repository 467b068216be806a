// One lock client in a process of its own, seen from a loop: requests go out as lines, answers come
// back.
//
// All waiting is done on the loop; no thread serves a child. A child that ends, does not read, or
// violates the protocol is dead: calls in flight learn of it, and later ones throw no_server with a
// sentence that names the program, the request, the offending line, and the end of the child's
// standard error. The memory that a child can occupy here is bounded.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "drivers/exec/child.hpp"
#include "drivers/exec/wire.hpp"
#include "harness/async/fd_watch.hpp"
#include "harness/async/scope.hpp"
#include "harness/driver.hpp"

namespace lockmark::exec {

class link {
 public:
  // `what` names the program in errors; `secrets` never appear in them.
  link(loop& l, const std::vector<std::string>& argv, std::string what,
       std::vector<std::string> secrets);
  link(const link&) = delete;
  link& operator=(const link&) = delete;
  // REQUIRES: end() has been awaited.
  ~link() = default;

  // Sends hello and waits for the child to be ready. Throws no_server.
  task<answer> greet(std::string hello, time_point limit);

  // The child's answer to the line, which has this id. None: not by the limit, or never, and then
  // dead() is true. Throws no_server if the child was dead before.
  task<std::optional<answer>> ask(std::uint64_t id, std::string line, time_point limit);

  // Sends a request with this id whose answer nobody awaits.
  void tell(std::uint64_t id, std::string line);

  // Called for answers that nobody awaits any more.
  std::function<void(const answer&)> on_late = [](const answer&) {};

  bool dead() const { return dead_; }
  bool alive() const { return !dead_ && alive_; }
  // Why the child is dead. REQUIRES: dead().
  std::string sentence() const;
  // The program and its failure `deed`, in one sentence, with the last lines of its standard error.
  std::string sentence(const std::string& deed) const;

  // The child's text, without the secrets.
  std::string without_secrets(std::string_view text) const;

  // Ends the child: by closing its input, then SIGTERM, then SIGKILL, within 4.5 s.
  task<void> end();

 private:
  struct pending {
    pending(loop& l, time_point at, std::string line)
        : arrived(l), asked(at), request(std::move(line)) {}
    signal arrived;
    time_point asked;
    std::string request;
    std::optional<answer> said;
  };

  void remember(std::uint64_t id, const std::string& line);
  void write(std::string line);
  void give_up(std::uint64_t id, time_point asked);
  task<void> read_answers();
  task<void> read_errors();
  long take_errors();
  task<void> write_rest();
  task<void> watch_end();
  task<bool> ended_by(signal& over, time_point limit);
  void take_lines();
  void take_line(std::string_view line);
  void take_ready(answer said, std::string_view line);
  void deliver(answer said, std::string_view line);
  void broke(std::string_view deed, std::string_view line, std::string_view request);
  void died(std::string how);
  task<void> bury(std::string deed, signal& over);

  loop& loop_;
  std::string what_;
  std::vector<std::string> secrets_;
  child child_;
  fd_watch in_;
  fd_watch out_;
  fd_watch err_;
  fd_watch gone_;
  scope tasks_;
  std::string unread_;        // an incomplete line
  std::string unsent_;        // not yet taken by the child
  std::string errors_;        // the end of its standard error
  std::string last_request_;  // as shown in error sentences
  bool writing_ = false;
  bool ending_ = false;
  bool given_up_ = false;
  bool greeted_ = false;  // and the child has reported ready
  bool dead_ = false;
  bool alive_ = true;
  std::string how_;         // how the child died
  signal over_for_reader_;  // the child has ended; one signal per possible waiter
  signal over_for_writer_;
  signal over_for_end_;
  pending hello_;
  std::unordered_map<std::uint64_t, pending*> waiting_;
  std::uint64_t last_id_ = 0;
  // Requests that may still be answered though nobody awaits them, with the time they were written.
  // Ids before `forgotten_` are not remembered.
  std::map<std::uint64_t, time_point> unanswered_;
  std::uint64_t forgotten_ = 0;
  int without_time_ = 0;  // calls in a row with zero duration, which is impossible
};

}  // namespace lockmark::exec
