// The workers of a run, wherever they are: in threads of this process (thread_worker_pool.hpp), or
// each in a process of its own (participants/process_worker_pool.hpp).
//
// All calls come from the run controller's thread, in the order start, all_ready until it is true,
// go, stop, all_quiet until it is true, close, join. Where failure() is not null, or whoever asks
// has waited for too long, it goes on with close and join.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "harness/run/worker.hpp"

namespace lockmark::run {

struct result;

// One worker, as those who gather what it measures see it.
class pool_member {
 public:
  virtual ~pool_member() = default;
  virtual check::journal& journal() = 0;
  virtual run::recorder& recorder() = 0;
  virtual const run::gauges& gauges() const = 0;
  // REQUIRES: quiet.
  virtual traffic sent() const = 0;
  // It has died: no interval will follow those in the recorder.
  virtual bool gone() const { return false; }
};

// Sees whether the sessions of a pool still close: with many of them that takes its time.
class closing_progress {
 public:
  closing_progress(std::vector<pool_member*> all, time_point now)
      : all_(std::move(all)), changed_at_(now) {}

  // How long nobody's session has closed.
  duration idle(time_point now) {
    std::int64_t connected = 0;
    for (const pool_member* m : all_) connected += m->gauges().connected.load();
    if (std::exchange(connected_, connected) != connected) changed_at_ = now;
    return now - changed_at_;
  }

 private:
  const std::vector<pool_member*> all_;
  std::int64_t connected_ = 0;
  time_point changed_at_;
};

class worker_pool {
 public:
  virtual ~worker_pool() = default;

  // Throws where a thread or a process cannot be started.
  virtual void start() = 0;
  // The first exception that a member told of; null: none did. The load of that member has ended,
  // or is about to; that of the others has not.
  virtual std::exception_ptr failure() = 0;
  virtual bool all_ready() = 0;
  // No client runs any more.
  virtual bool all_quiet() = 0;
  virtual void go(time_point start) = 0;
  virtual void stop() = 0;
  virtual void hurry() = 0;
  // Ends whatever is left, orderly: nothing is awaited, join() does that.
  virtual void close() = 0;
  // Ends those who are not quiet, where that can be done without them. True: they are gone.
  virtual bool kill_the_stuck() { return false; }
  // True: every member has ended. False: one has not, though for so long no session has closed, and
  // what it uses must not be freed.
  virtual task<bool> join(loop& controller, duration patience) = 0;

  // Always the same ones.
  virtual std::vector<pool_member*> members() = 0;
  // Brings what members elsewhere have handed over into their journals and recorders.
  virtual void fetch() {}
  // The guarded resource of the job; null: none.
  virtual const check::guard* guard() const = 0;
  // CPU time that the members have used in other processes than this one.
  virtual std::int64_t cpu_elsewhere_ns() const { return 0; }
  // Why the run cannot go on, as a sentence; empty: it can.
  virtual std::string trouble() const { return {}; }
  // What happened to the members, once the load has ended and its window is known.
  virtual void tell(result&) const {}
};

}  // namespace lockmark::run
