// Searches for the highest rate that a lock sustains, with a model of the lock beside each run.
//
//   * The model is the queue of replay.hpp. Its hand-offs are those measured under contention.
//     Their scale, and whether the lock serves in order of arrival or in none, are fitted: replays
//     of the runs so far wait as long as the runs did.
//   * Two plateaus, below the model's edge and closer to it, correct the model.
//   * The rate to confirm is the highest at which, by the model, all but one of twenty single
//     minutes hold the objectives. It is confirmed as in rate_search.hpp, by new runs only, with
//     bounds that take out the luck that the replays show (evidence.hpp).
// Where replays explain little of what runs do, the lock is no such queue, and the search gives up;
// rate_search needs no model. Chooses rates and judges; the caller makes the runs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "harness/capacity/objective.hpp"
#include "harness/capacity/observation.hpp"
#include "harness/capacity/rate_search.hpp"
#include "harness/capacity/replay.hpp"

namespace lockmark::capacity {

class replay_search {
 public:
  static constexpr int plateaus = 2;
  static constexpr int most_looks = 4;      // of a confirmation, equally long
  static constexpr double doubt = 0.01;     // that a confirmed rate is none, over all looks
  static constexpr double promised = 0.95;  // of single minutes

  // `like`: the job, whose rate is left out of account. `first`: scale 1.
  replay_search(config::job like, lock_model first, std::vector<objective> objectives);

  // The next run to make; nothing once the search has ended.
  std::optional<probe> next() const;
  // `as_run`: the job of that run, with its seed and rate. Returns what all runs of this probe say,
  // with bounds beside the replays.
  probe_result tell(const config::job& as_run, const observation& seen, outcome& verdict);

  bool gave_up() const { return state_ == state::gave_up; }
  // The confirmed rate.
  std::optional<double> rate_per_s() const;
  // Of single minutes at the rate now looked at, by the model; the edge by the model.
  double minutes_that_hold() const { return minutes_; }
  double edge_per_s() const { return edge_; }
  const lock_model& model() const { return model_; }
  // The share of the variance of the runs that their replays explain.
  double explained() const { return explained_; }

 private:
  enum class state { on_plateaus, confirming, found, gave_up };
  struct seen_run {
    std::vector<stretches> against;  // one per objective
    std::vector<pace::arrival> arrivals;
    double warmup_s;
    std::uint64_t seed;
  };

  void fit();
  void fit_scale();
  double fit_to(service_order order);
  std::vector<stretches> replays_of(const std::vector<seen_run>& runs, std::size_t objective) const;
  double late_in_the_long_run(double rate_per_s, std::size_t objective) const;
  double minutes_held_at(double rate_per_s) const;
  double edge() const;
  double promising_rate() const;
  void go_to(double rate_per_s, bool confirms);
  config::job job_at(double rate_per_s) const;

  config::job like_;
  lock_model model_;
  std::vector<objective> objectives_;
  state state_ = state::on_plateaus;
  probe now_;
  double minutes_ = 0;
  double edge_ = 0;
  double explained_ = 0;
  int done_ = 0;  // plateaus
  int confirmations_ = 0;
  std::vector<seen_run> all_;    // runs so far
  std::vector<seen_run> looks_;  // of the probe now made
  std::vector<observation> observed_;
};

}  // namespace lockmark::capacity
