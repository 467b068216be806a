#include "harness/async/scope.hpp"

#include <asio/co_spawn.hpp>
#include <cassert>
#include <utility>

namespace lockmark {

scope::~scope() {
  assert(tasks_ == 0 || std::uncaught_exceptions() > 0);
}

void scope::spawn(task<void> t) {
  ++tasks_;
  ++loop_.live_tasks_;
  asio::co_spawn(loop_.context_, std::move(t), [this](std::exception_ptr error) { ended(error); });
}

void scope::ended(std::exception_ptr error) {
  if (error && !first_failure_) first_failure_ = error;
  --loop_.live_tasks_;
  if (--tasks_ == 0) empty_.set();
}

task<void> scope::join() {
  while (tasks_ > 0) co_await empty_.wait();
  rethrow_failure();
}

void scope::rethrow_failure() {
  if (first_failure_) std::rethrow_exception(std::exchange(first_failure_, nullptr));
}

void run_to_end(loop& l, task<void> t) {
  scope only{l};
  only.spawn(std::move(t));
  l.run();
  only.rethrow_failure();
}

}  // namespace lockmark
