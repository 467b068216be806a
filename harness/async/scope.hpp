// A nursery: tasks belong to a scope, which must be empty before it is left.
//
// Nothing in this project runs detached. An exception in a task ends the scope's join() with that
// exception; the other tasks are not cancelled, because each of them has a deadline.
#pragma once

#include <exception>

#include "harness/async/loop.hpp"
#include "harness/async/signal.hpp"

namespace lockmark {

class scope {
 public:
  explicit scope(loop& l) : loop_(l), empty_(l) {}
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;
  // REQUIRES: empty.
  ~scope();

  // Starts `t` on the scope's loop. Called on the loop's thread, or before the loop runs.
  void spawn(task<void> t);

  // Ends when no task is left; rethrows the exception of the first task that failed.
  task<void> join();

  // The same, for a scope whose loop has already finished.
  void rethrow_failure();

  std::size_t size() const { return tasks_; }

 private:
  void ended(std::exception_ptr error);

  loop& loop_;
  signal empty_;
  std::size_t tasks_ = 0;
  std::exception_ptr first_failure_;
};

// Runs one task on a loop with nothing else to do, and returns when it has ended.
void run_to_end(loop& l, task<void> t);

}  // namespace lockmark
