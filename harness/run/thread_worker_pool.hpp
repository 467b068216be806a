// Workers in this process, each with its own thread and loop, or the whole load on one given loop.
#pragma once

#include <exception>
#include <memory>
#include <thread>
#include <vector>

#include "harness/run/worker_pool.hpp"

namespace lockmark::run {

class thread_worker_pool final : public worker_pool {
 public:
  // `workers` threads. The worker_setup must outlive the pool.
  thread_worker_pool(const real_clock& clock, const worker_setup& c, std::uint32_t workers);
  // One worker on the caller's loop: for simulated time.
  thread_worker_pool(loop& l, const worker_setup& c);
  // REQUIRES: join() has returned true, or start() was never called.
  ~thread_worker_pool() override;

  void start() override;
  std::exception_ptr failure() override;
  bool all_ready() override;
  bool all_quiet() override;
  void go(time_point start) override;
  void stop() override;
  void hurry() override;
  void close() override;
  task<bool> join(loop& controller, duration patience) override;
  std::vector<pool_member*> members() override;
  const check::guard* guard() const override { return guard_; }

 private:
  struct member;

  std::vector<std::unique_ptr<member>> members_;
  const check::guard* guard_;
};

}  // namespace lockmark::run
