// The targets of faults in one run: its participants, its servers and its network.
//
// The run controller owns the schedule and calls begin() and end(). The injector's creator knows
// the targets and how to hit them (program, from a local cluster, processes and proxies).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "harness/async/task.hpp"
#include "harness/faults/plan.hpp"
#include "harness/time/clock.hpp"

namespace lockmark {
class loop;
}

namespace lockmark::faults {

// A fault in force. Its target is fixed when it begins: "holder" is the holder at that moment.
struct active_fault {
  std::string whom;  // "participant 2", or a server's name
  std::optional<std::uint32_t>
      participant{};   // the participant that was hit, from 0; none: several, or no client
  time_point began{};  // stamped before it takes effect: no effect is earlier
  int handle = 0;      // the injector's own
};

class injector {
 public:
  virtual ~injector() = default;

  // Throws usage_error if a plan cannot be carried out here, with a sentence that names the fault
  // and the possible targets. Called once, before the load.
  virtual void check(const fault_plan& plan) const = 0;

  // Waits for the reply to the request named by the plan (`on`), at most until `deadline`; the
  // reply is held back until begin() has returned. False if it never came. REQUIRES:
  // !plan.on.empty().
  virtual task<bool> awaited(loop& l, fault_plan plan, time_point deadline) = 0;

  // The window is over: every awaited() in progress ends with false.
  virtual void stop_waiting() noexcept {}

  // True if the clients' connections go through this injector's proxies.
  virtual bool has_proxies() const { return false; }
  // CPU time that the proxies, which are one thread, have used so far.
  virtual std::int64_t proxies_cpu_ns() const { return 0; }

  // The fault is in force when this returns. Throws no_server or usage_error if that fails; the run
  // then ends with that sentence.
  virtual task<active_fault> begin(loop& l, fault_plan plan) = 0;
  // Undoes begin(): resumes, restarts, lets traffic through. A permanent fault needs no end.
  virtual task<void> end(loop& l, fault_plan plan, active_fault which) = 0;

  // Why measurements from now on say nothing about the lock: the injector's own machinery between
  // clients and servers is gone. The run ends with this sentence; empty: no trouble.
  virtual std::string trouble() const { return {}; }

  // Ends all faults still in force, so that the run can clean up. Never throws.
  virtual task<void> end_all(loop& l) = 0;
};

}  // namespace lockmark::faults
