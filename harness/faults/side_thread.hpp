// A thread for blocking calls, so that a coroutine can wait for one without blocking its loop.
#pragma once

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <functional>
#include <thread>

#include "harness/async/loop.hpp"

namespace lockmark::faults {

// Runs its tasks one after the other; no signal interrupts them.
class side_thread {
 public:
  side_thread() : keep_alive_(work_.get_executor()), thread_([this] { serve(); }) {}
  // Waits for tasks already begun.
  ~side_thread() {
    keep_alive_.reset();
    thread_.join();
  }
  side_thread(const side_thread&) = delete;
  side_thread& operator=(const side_thread&) = delete;

  // Returns when `f` has returned, and rethrows its exception. `f` must end by itself.
  task<void> run(loop& l, std::function<void()> f);

 private:
  void serve();

  asio::io_context work_{1};
  asio::executor_work_guard<asio::io_context::executor_type> keep_alive_;
  std::thread thread_;
};

}  // namespace lockmark::faults
