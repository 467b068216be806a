// A thread for what blocks, so that a coroutine can wait for it without blocking its loop.
#pragma once

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <functional>
#include <thread>

#include "harness/async/loop.hpp"

namespace lockmark::faults {

// What it is given runs one after the other, and no signal interrupts it.
class side_thread {
 public:
  side_thread() : keep_alive_(work_.get_executor()), thread_([this] { serve(); }) {}
  // Waits for what was begun.
  ~side_thread() {
    keep_alive_.reset();
    thread_.join();
  }
  side_thread(const side_thread&) = delete;
  side_thread& operator=(const side_thread&) = delete;

  // Ends when `f` has, and throws what it threw. `f` must end by itself.
  task<void> run(loop& l, std::function<void()> f);

 private:
  void serve();

  asio::io_context work_{1};
  asio::executor_work_guard<asio::io_context::executor_type> keep_alive_;
  std::thread thread_;
};

}  // namespace lockmark::faults
