// The timing of a job's faults: begins and ends each on time, and records what was done.
//
// One coroutine per plan on the run controller's loop. The injector inflicts the faults; readers of
// all() and active() show them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/async/scope.hpp"
#include "harness/async/signal.hpp"
#include "harness/faults/injector.hpp"

namespace lockmark::faults {

// One fault that was inflicted.
struct infliction {
  std::string kind;    // name_of
  std::string text;    // a sentence without a full stop: the action and its target
  time_point began{};  // stamped before it takes effect
  duration lasted{};   // 0: instantaneous, or not over yet; of a failover, until it was done
  bool over = false;
  std::size_t plan = 0;                        // index among the job's plans, from 0
  std::optional<std::uint32_t> participant{};  // the target, as in active_fault
};

class schedule {
 public:
  // Throws usage_error, with a sentence, if there are plans and no injector, or the injector cannot
  // carry out one of them. The injector must outlive the schedule.
  schedule(loop& l, std::vector<fault_plan> plans, injector* where);
  // REQUIRES: never begun, or over().
  ~schedule();

  // Starts the window. Requests that plans wait for must come by `latest`.
  void begin(time_point window, time_point latest);

  // Nothing new begins; faults in force end, though not before this returns. May be called again.
  void stop();
  // True once all have ended, or if none ever began.
  bool over() const { return over_; }
  // Calls stop() and waits until all have ended. Never throws.
  task<void> join();

  // In the order in which they took effect; a slow one may have begun before its predecessor.
  const std::vector<infliction>& all() const { return all_; }
  // The kinds in force now, each once.
  std::vector<std::string> active() const;
  // The last time a fault was in force; now if one is. time_point::min(): none was yet.
  time_point last_active() const;

  // Why a fault could not be inflicted or ended: a sentence; empty if all could.
  const std::string& failure() const { return failure_; }
  // Faults whose trigger (`on`) never came: a sentence each.
  const std::vector<std::string>& missed() const { return missed_; }

 private:
  struct appointment;

  task<void> keep(appointment* mine);
  task<bool> wait(appointment* mine, time_point due);
  task<void> inflict(appointment* mine);
  task<void> finish();
  void fail(const appointment& mine, const std::string& sentence);
  void close(std::size_t number);

  loop& loop_;
  injector* where_;
  std::vector<std::unique_ptr<appointment>> appointments_;
  scope running_;
  scope finishing_;
  std::vector<infliction> all_;
  std::vector<std::string> missed_;
  std::string failure_;
  time_point window_{};
  time_point latest_{};
  time_point last_ended_ = time_point::min();
  bool stopping_ = false;
  bool over_ = true;
};

}  // namespace lockmark::faults
