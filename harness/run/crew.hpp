// The workers of a run, wherever they are: in threads of this process (thread_crew.hpp), or each in
// a process of its own (participants/process_crew.hpp).
//
// All calls come from the conductor's thread, in the order start, all_ready until it is true, go,
// stop, all_quiet until it is true, close, join.
#pragma once

#include <string>
#include <vector>

#include "harness/run/worker.hpp"

namespace lockmark::run {

struct result;

// One worker, as those who gather what it measures see it.
class crew_member {
 public:
  virtual ~crew_member() = default;
  virtual check::journal& journal() = 0;
  virtual run::recorder& recorder() = 0;
  virtual const run::gauges& gauges() const = 0;
  // REQUIRES: quiet.
  virtual traffic sent() const = 0;
  // It has died: no interval will follow those in the recorder.
  virtual bool gone() const { return false; }
};

class crew {
 public:
  virtual ~crew() = default;

  virtual void start(time_point open_by) = 0;
  // Throws what the first failing worker threw.
  virtual bool all_ready() = 0;
  // No client runs any more. Throws as above.
  virtual bool all_quiet() = 0;
  virtual void go(time_point start) = 0;
  virtual void stop() = 0;
  virtual void hurry() = 0;
  // Ends whatever is left, orderly: nothing is awaited, join() does that.
  virtual void close() = 0;
  virtual task<void> join(loop& conductor) = 0;

  // Always the same ones.
  virtual std::vector<crew_member*> members() = 0;
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
