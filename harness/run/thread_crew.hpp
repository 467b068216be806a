// Workers in this process, each on a thread and loop of its own, or all of the load on one given
// loop.
#pragma once

#include <exception>
#include <memory>
#include <thread>
#include <vector>

#include "harness/run/crew.hpp"

namespace lockmark::run {

class thread_crew final : public crew {
 public:
  // `workers` threads. The cast must outlive the crew.
  thread_crew(const real_clock& clock, const cast& c, std::uint32_t workers);
  // One worker on the caller's loop: what runs under simulated time.
  thread_crew(loop& l, const cast& c);
  // REQUIRES: join() has returned true, or start() was never called.
  ~thread_crew() override;

  void start() override;
  std::exception_ptr failure() override;
  bool all_ready() override;
  bool all_quiet() override;
  void go(time_point start) override;
  void stop() override;
  void hurry() override;
  void close() override;
  task<bool> join(loop& conductor, duration patience) override;
  std::vector<crew_member*> members() override;
  const check::guard* guard() const override { return guard_; }

 private:
  struct member;

  std::vector<std::unique_ptr<member>> members_;
  const check::guard* guard_;
};

}  // namespace lockmark::run
