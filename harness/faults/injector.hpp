// Where faults can be inflicted: the participants, the servers and the network of one run.
//
// The run controller owns the schedule and calls begin() and end(); who is there to be hit, and
// how, is known by who made the injector (program, from a local cluster, processes and proxies).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "harness/async/task.hpp"
#include "harness/config/fault_plan.hpp"
#include "harness/time/clock.hpp"

namespace lockmark {
class loop;
}

namespace lockmark::faults {

// One fault that is on. What it hit is fixed when it begins: "holder" is the one of that moment.
struct active_fault {
  std::string whom;  // "participant 2", or a server's name
  std::optional<std::uint32_t>
      participant{};   // the one that was hit, from 0; none: several, or no client
  time_point began{};  // stamped before it takes effect: no effect is earlier
  int handle = 0;      // the injector's own
};

class injector {
 public:
  virtual ~injector() = default;

  // Throws usage_error, with a sentence that names the fault and who could be hit, if a plan cannot
  // be carried out here. Called once, before the load.
  virtual void check(const config::fault_plan& plan) const = 0;

  // Waits until the request that the plan waits for (`on`) was answered, at most until `deadline`;
  // the answer is held back until begin() has returned. REQUIRES: !plan.on.empty(). False: it never
  // came.
  virtual task<bool> awaited(loop& l, config::fault_plan plan, time_point deadline) = 0;

  // The window is over: every awaited() in progress ends with false.
  virtual void stop_waiting() noexcept {}

  // Whether the clients' connections lead through proxies of the injector's.
  virtual bool has_proxies() const { return false; }

  // In force when this returns. Throws no_server or usage_error where it could not be done; the run
  // then ends with that sentence.
  virtual task<active_fault> begin(loop& l, config::fault_plan plan) = 0;
  // Ends what begin() began: resumes, restarts, lets through. What lasts for good needs no end.
  virtual task<void> end(loop& l, config::fault_plan plan, active_fault which) = 0;

  // Why what is measured from now on says nothing of the lock: what the injector itself has put
  // between clients and servers is gone. A sentence, with which the run ends; empty: all is well.
  virtual std::string trouble() const { return {}; }

  // Ends whatever is still on, so that the run can clean up behind itself. Never throws.
  virtual task<void> end_all(loop& l) = 0;
};

}  // namespace lockmark::faults
