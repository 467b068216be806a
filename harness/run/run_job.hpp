// One run, from the first contact with the server to the final clean-up. Writes no file and prints
// nothing.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "harness/run/hiccup.hpp"
#include "harness/run/live.hpp"
#include "harness/run/worker.hpp"

namespace lockmark::faults {
class injector;
}

namespace lockmark::run {

class separate_pool;

// Prints the sentence on standard error and aborts.
void end_with(const result& r, const std::string& sentence);

struct setup {
  config::job job;
  const lock_kind& lock;
  driver& behind;
  const workload_kind& workload;
  std::uint32_t holders = 1;  // per key, with the lock's options; 0: any number
  std::string run_id;
  std::string target;  // redacted
  std::string topology;
  std::string scenario{};
  std::vector<std::string> arguments{};
  // The harness's performance without a server, measured once the server has answered: a user
  // without a server is told so at once. Null: not wanted.
  std::function<floor_measurement()> measure_floor{};
  // Inflicts the job's faults; null: jobs with faults are refused.
  faults::injector* injector = nullptr;
  // The instances live in these processes, here or on other machines, which were made for this job
  // and run; null: in threads.
  separate_pool* participants = nullptr;

  // How often the user asked to stop; the first request ends the measurement early, the second does
  // not even wait for attempts in flight.
  const std::atomic<int>* interrupts = nullptr;
  // The observer has seen enough: the measurement ends as if it were complete.
  const std::atomic<bool>* seen_enough = nullptr;
  std::function<void(const progress&)> on_progress{};
  // Once a second, from the beginning of the window until the load has ended.
  std::function<void(const live_view&)> on_live{};
  // Possible problems of the run, before its load begins.
  std::function<void(const std::string& sentence)> on_finding{};
  // This and on_event may throw a write_error: the run then ends as failed, with its sentence and
  // all measurements so far, and calls neither of them again.
  //
  // Called with every merged interval as soon as it is complete; `at_ns` since the window began.
  std::function<void(const interval&, std::int64_t at_ns)> on_interval{};
  // Called with every event of the load in order of time, some 20 ms late. With it the workers also
  // note the answers to releases (check::event_kind::answered).
  std::function<void(const check::event&)> on_event{};
  // The window begins; the result holds what is known about the run by then.
  std::function<void(const result&)> on_window{};
  // How long after its deadline a driver call counts as a defect.
  duration stuck_after = std::chrono::seconds{10};
  // A driver call never ended, against its contract. Everything else has ended, and the result
  // holds the measurements; but the memory used by the call can no longer be freed: must end the
  // process.
  std::function<void(result&, const std::string& sentence)> on_stuck = end_with;
};

// What the checks of a job have to know.
struct checked {
  const lock_kind& lock;
  const config::job& job;
  std::uint32_t holders = 1;  // as in setup
  const check::clock_errors* clocks = nullptr;
};
history_checker::shape shape_of(const checked& what);

// A result with everything known before the run begins.
result blank_result(const setup& s);

// Throws usage_error and no_server if nothing could be measured at all. A server lost later is a
// result (ending::server_lost), and so are an interrupt and any exception of a driver under load
// (ending::failed).
result run_job(const setup& s, const real_clock& clock);

// The same under simulated time, on one loop, without threads and without host figures.
result run_job_simulated(const setup& s, simulated_clock& clock);

// Refuses, with a usage_error, a job whose workload and lock do not fit. (run_job also refuses a
// guard for a lock with several concurrent holders.)
void check_fit(const config::job& job, const lock_kind& lock, const workload_kind& workload);

// Attempts due per second; 0: a closed loop, which begins one when another ends.
double offered_per_s(const config::job& job);

// Worker threads for this job on this machine: as requested, or one less than the number of cores,
// and never more than instances.
std::uint32_t workers_for(const config::job& job);

// The validity verdict on a finished run, from its measurements of its own harness. Completes
// `r.self` from the other parts of `r` and sets `r.verdict`. `cores`: how many cores the harness
// may use; its CPU time is reported as a share of them.
void judge_run(result& r, double cores);

// Whether proxies limited to `limit` descriptors can carry `connections`, with two sockets each.
// `connections` 0: unknown.
std::optional<finding> judge_proxies(std::uint64_t connections, std::uint64_t limit);

}  // namespace lockmark::run
