// All of `lockmark capacity` except making runs: chooses the jobs and draws the conclusions.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/capacity/replay_search.hpp"
#include "harness/capacity/report.hpp"
#include "harness/config/job.hpp"

namespace lockmark::capacity {

// The search's accuracy is known for this length (rate_search.hpp).
inline constexpr duration usual_probe = std::chrono::seconds{25};
// The usual length of a run beside its replay.
inline constexpr duration usual_plateau = std::chrono::seconds{30};

struct settings {
  std::vector<objective> objectives;
  duration probe = usual_probe;  // usual length of a probe
  duration probe_at_most{};      // for rates at which the samples take longer
  duration cell{};               // length of each run of the sweep, and of those before the search
  std::optional<double> wanted_per_s;  // nothing: the lock's capacity with a margin
  bool sweeps = true;
  std::vector<std::uint64_t> clients;
  std::vector<config::key_choice> keys;  // none: the job's
  std::vector<config::distribution> holds;
  std::uint64_t repeats = 1;
};

// An operating point above this share of the edge leaves no room for a busy minute.
inline constexpr double operating_share = 0.8;

// Throws usage_error for what cannot be studied this way: a closed loop, faults, an objective
// beyond the wait timeout.
void check_study(const config::job& job, const std::string& name, const settings& s);

class study {
 public:
  // Makes a run and returns its observation; `title` is for the progress line. May throw to end the
  // study. Each job has a different seed: that of the study's job plus the number of runs made
  // before.
  using runner = std::function<observation(const config::job& job, const std::string& title)>;
  // Called with the report as it grows, so that early findings survive later failures.
  using listener = std::function<void(const findings&)>;

  study(subject what, config::job job, settings s, runner run, listener grown);

  // Throws usage_error if no rate can hold the objectives, or the samples are out of reach.
  void find_rate();
  void sweep();
  void plan();
  const findings& found() const { return found_; }
  findings& found() { return found_; }

 private:
  observation run(config::job job, const std::string& title);
  void measure_basics();
  void refuse_what_is_hopeless(const observation& lone) const;
  void refuse_too_few_samples() const;
  void search();
  bool search_beside_replays();
  observation plateau(const probe& p, bool& harness_to_blame);
  void add_probe(const probe& p, probe_result found, outcome verdict,
                 const std::vector<observation>& looks, bool harness_to_blame);
  observation look_at(const probe& p, bool& harness_to_blame);
  void conclude(const rate_search& search);
  void settle(double rate, std::optional<double> edge_below);
  void compare_with_model();
  std::optional<comparison> compare(const probed& p, double keys) const;
  void sweep_cell(std::uint64_t clients, const config::key_choice& keys,
                  const config::distribution& hold);
  std::optional<comparison> random_arrivals(const config::job& closed, double keys,
                                            const observation& of);
  config::job closed_job() const;
  config::distribution pause_between(double had_per_s) const;
  config::job open_job(const config::job& like, double rate_per_s, duration length) const;
  double attempts_needed() const;

  settings settings_;
  config::job job_;
  runner run_;
  listener grown_;
  findings found_;
  std::vector<observation> confirming_;  // the runs of the confirmation
  std::uint64_t made_ = 0;               // runs so far
  config::job last_;                     // as it was run
  lock_model contended_;                 // hand-offs under contention; none: nobody waited
};

// The plan's lines from the measurements. `confirming`: the runs at the confirmed rate; `renewing`:
// one in which leases were renewed, or null.
std::vector<plan_line> make_plan(const findings& r, const std::vector<observation>& confirming,
                                 const observation* renewing, double wanted_per_s);

}  // namespace lockmark::capacity
