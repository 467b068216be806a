// The workers of a run, each on a thread and loop of its own, or all of the load on one given loop.
#pragma once

#include <exception>
#include <memory>
#include <thread>
#include <vector>

#include "harness/run/worker.hpp"

namespace lockmark::run {

class crew {
 public:
  // `workers` threads. The cast must outlive the crew.
  crew(const real_clock& clock, const cast& c, std::uint32_t workers);
  // One worker on the caller's loop: what runs under simulated time.
  crew(loop& l, const cast& c);
  // REQUIRES: join() has returned, or start() was never called.
  ~crew();

  void start(time_point open_by);
  // Throws what the first failing worker threw.
  bool all_ready();
  bool all_quiet();
  void go(time_point start);
  void stop();
  void hurry();
  // Ends whatever is left, orderly: nothing is awaited, join() does that.
  void close();
  task<void> join(loop& conductor);

  std::vector<worker*> workers();

 private:
  struct member;
  void rethrow_failure();

  std::vector<std::unique_ptr<member>> members_;
};

}  // namespace lockmark::run
