// One run, from the first contact with the server to the last trace removed. Writes no file and
// prints nothing.
#pragma once

#include <atomic>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>

#include "harness/run/hiccup.hpp"
#include "harness/run/live.hpp"
#include "harness/run/worker.hpp"

namespace lockmark::faults {
class injector;
}

namespace lockmark::run {

class process_worker_pool;

struct setup {
  config::job job;
  const lock_kind& lock;
  driver& behind;
  const workload_kind& workload;
  std::uint32_t holders = 1;  // of a key at once, with the lock's options; 0: any number
  std::string run_id;
  std::string target;  // redacted
  std::string topology;
  std::string scenario{};
  std::vector<std::string> arguments{};
  // What the harness does without a server, measured once the server has answered: who has none to
  // measure against is told so at once. Null: not wanted.
  std::function<floor_measurement()> measure_floor{};
  // Who inflicts the job's faults; a job that has some is refused without.
  faults::injector* injector = nullptr;
  // The instances live in these processes, which were made for this job and run; null: in threads.
  process_worker_pool* participants = nullptr;

  // How often the user asked to stop; the first one ends the measurement early, the second one
  // does not even wait for what is in flight.
  const std::atomic<int>* interrupts = nullptr;
  // Who watches has seen enough: the measurement ends as if it were complete.
  const std::atomic<bool>* seen_enough = nullptr;
  std::function<void(const progress&)> on_progress{};
  // Once a second, from the beginning of the window until the load has ended.
  std::function<void(const live_view&)> on_live{};
  // What may spoil the run, before its load begins.
  std::function<void(const std::string& sentence)> on_finding{};
  // This and on_event may throw what they cannot do, as write_error: the run then ends as failed,
  // with that sentence and with all that was measured by then, and calls neither of them again.
  //
  // Every merged interval as soon as it is whole; `at_ns` since the window began.
  std::function<void(const interval&, std::int64_t at_ns)> on_interval{};
  // Every event of the load in the order of time, some 20 ms late. With it the workers also note
  // the answers to releases (check::event_kind::answered).
  std::function<void(const check::event&)> on_event{};
  // The window begins; the result holds what is known of the run by then.
  std::function<void(const result&)> on_window{};
  // How long after its deadline a call of the driver is taken for a defect.
  duration stuck_after = std::chrono::seconds{10};
  // A call of the driver never ended, against its contract. Everything else has, and this is what
  // was measured; but what the call uses cannot be freed any more: must end the process.
  std::function<void(result&, const std::string& sentence)> on_stuck =
      [](result&, const std::string&) { std::abort(); };
};

// What is known of a run before it begins.
result blank_result(const setup& s);

// Throws usage_error and no_server when nothing could be measured at all. A server that is lost on
// the way is a result (ending::server_lost), and so are an interrupt and whatever a driver throws
// under load (ending::failed).
result run_job(const setup& s, const real_clock& clock);

// The same under simulated time, on one loop, without threads and without host figures.
result run_job_simulated(const setup& s, simulated_clock& clock);

// Refuses, with a usage_error, a job whose workload and lock do not fit. (run_job also refuses a
// guard of what several may hold at once.)
void check_fit(const config::job& job, const lock_kind& lock, const workload_kind& workload);

// Attempts that the job lets begin per second; 0: a closed loop, which begins one when another
// ends.
double offered_per_s(const config::job& job);

// Worker threads for this job on this machine: as asked, or one less than there are cores, and
// never more than there are instances.
std::uint32_t workers_for(const config::job& job);

}  // namespace lockmark::run
