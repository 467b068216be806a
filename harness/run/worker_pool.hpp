// The workers of a run: in threads of this process (thread_worker_pool.hpp), each in a process of
// its own (participants/process_worker_pool.hpp), or on other machines (harness/agents).
//
// All calls come from the run controller's thread, in the order start, all_ready until true, go,
// stop, all_quiet until true, close, join. If failure() is not null, or the caller has waited too
// long, it continues with close and join.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "harness/check/clock_errors.hpp"
#include "harness/run/awake_time.hpp"
#include "harness/run/worker.hpp"

namespace lockmark::run {

struct result;

// One worker, as seen by the collectors of its measurements.
class pool_member {
 public:
  virtual ~pool_member() = default;
  virtual check::journal& journal() = 0;
  virtual run::recorder& recorder() = 0;
  virtual const run::gauges& gauges() const = 0;
  // REQUIRES: quiet.
  virtual traffic sent() const = 0;
  // The worker has died: no interval will follow those in the recorder.
  virtual bool gone() const { return false; }
};

// Whether the sessions of a pool are still closing: with many of them that takes time.
class closing_progress {
 public:
  closing_progress(std::vector<pool_member*> all, time_point now)
      : all_(std::move(all)), unchanged_(now) {}

  // How long no session has closed.
  duration idle(time_point now) {
    std::int64_t connected = 0;
    for (const pool_member* m : all_) connected += m->gauges().connected.load();
    if (std::exchange(connected_, connected) != connected) unchanged_.restart(now);
    return unchanged_.passed(now);
  }

 private:
  const std::vector<pool_member*> all_;
  std::int64_t connected_ = 0;
  awake_time unchanged_;
};

class worker_pool {
 public:
  virtual ~worker_pool() = default;

  // Throws if a thread or a process cannot be started.
  virtual void start() = 0;
  // The first exception reported by a member; null: none. The load of that member has ended, or is
  // about to; that of the others has not.
  virtual std::exception_ptr failure() = 0;
  virtual bool all_ready() = 0;
  // No client is running any more.
  virtual bool all_quiet() = 0;
  virtual void go(time_point start) = 0;
  // How long before a moment its members must hear of it.
  virtual duration notice() const { return {}; }
  // The window has got its beginning or its end, at least notice() ahead.
  virtual void announce() {}
  virtual void stop() = 0;
  virtual void hurry() = 0;
  // Orderly end of everything left; does not wait, join() does.
  virtual void close() = 0;
  // Ends members that are not quiet, if that is possible without their help. True: they are gone.
  virtual bool kill_the_stuck() { return false; }
  // True: every member has ended. False: one has not, though no session has closed for `patience`,
  // and the memory it uses must not be freed.
  virtual task<bool> join(loop& controller, duration patience) = 0;

  // Always the same members.
  virtual std::vector<pool_member*> members() = 0;
  // Moves the data of members elsewhere into their journals and recorders.
  virtual void fetch() {}
  // The guarded resource of the job; null: none.
  virtual const check::guard* guard() const = 0;
  // CPU time that the members have used in processes other than this one.
  virtual std::int64_t cpu_elsewhere_ns() const { return 0; }
  // The cores that its members may use; 0: those of this machine.
  virtual double cores() const { return 0; }
  // How far the clocks of its members may differ; null: they share one.
  virtual const check::clock_errors* clocks() const { return nullptr; }
  // Why the run cannot go on, as a sentence; empty: it can.
  virtual std::string trouble() const { return {}; }
  // Adds what happened to the members, once the load has ended and its window is known.
  virtual void tell(result&) const {}
};

// A pool whose members are no threads of this process: it has the window that they measure.
class separate_pool : public worker_pool {
 public:
  virtual run::window& measured() = 0;
};

}  // namespace lockmark::run
