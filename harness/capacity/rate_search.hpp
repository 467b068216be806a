// Searches for the highest rate that a lock sustains within its objectives: chooses the next rate,
// and decides when the search ends. Runs nothing itself; the caller makes each probe and reports
// its result.
//
// Three parts (R21, with an estimate in place of bisection, which trusts each step too much):
//   * bracketing: geometric steps until one probe has fewer late attempts than allowed and a higher
//     rate has more;
//   * locating: probes on both sides of the probable edge (edge_estimate.hpp), until it is known
//     to about a hundredth. Nothing is decided here, so these are short;
//   * confirming, which alone decides: a rate below the edge, from new runs, must keep the upper
//     bound of its late attempts' share within the allowed share. Each look is twice as long as
//     the last one; a rate that is unlikely to pass is given up, and a slightly lower one is tried.
// Late attempts come in crowds, and a run with few crowds underestimates their number: just above
// the edge, a bound with a nominal error of 1 in 1,000 is wrong 3 times in 100 after a minute, and
// 0.3 after four (M/D/1, held for 5 ms, p99 < 50 ms). So no confirmation passes before its third
// look, and it begins below the edge, so that a result above it takes two mistakes. Simulated with
// probes of 25 s on 400 such locks, none of them used to choose the constants
// (rate_search_simulation_test has 100 of them): never above, within 7 % in 383, after 21 minutes
// of load on average. The more slowly the share of late attempts rises, the harder the edge is to
// find: with exponential holds never above, within 15 % in 393 of 400, after 20 minutes. A later
// run of five minutes at the rate found holds the objective in 388 and 394 of 400; of one minute in
// nine of ten, because so close to the edge a minute shows little.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/capacity/edge_estimate.hpp"
#include "harness/capacity/evidence.hpp"

namespace lockmark::capacity {

// The next run to make.
struct probe {
  double rate_per_s = 0;
  double length = 1;  // in units of the usual length
  // Earlier looks at the same rate, whose runs count as well.
  int looks_before = 0;
  bool confirms = false;
  double doubt = 0.005;  // of its bounds
};

// The result of all runs of a probe so far.
struct probe_result {
  struct against {
    double allowed = 0;  // share of the attempts that may be late
    share_bounds late;
  };
  std::vector<against> objectives;
  double granted_share = 1;  // of the attempts that were due
  std::uint64_t dropped = 0;
  growth_bounds backlog;
};

enum class outcome { passes, fails, unclear };

// As in the table of probes: "passes", "fails", "unclear".
std::string name_of(outcome o);

outcome judge(const probe_result& r);

// True if no more attempts were late than allowed, whatever the certainty.
bool lies_within(const probe_result& r);

class rate_search {
 public:
  static constexpr double step = 1.5;
  static constexpr double confirmation = 2;  // first look, in usual lengths
  static constexpr int most_looks = 5;       // each as long as all before it
  static constexpr double doubt = 0.005;     // of each bound
  static constexpr double doubt_confirming = 0.001;

  // `guess_per_s`: roughly the lock's capacity, such as its throughput in a closed loop; the search
  // begins at two fifths of it, because slow probes are long. It stays within `least_per_s` and
  // `most_per_s`.
  rate_search(double guess_per_s, double most_per_s, double least_per_s);

  // The next run to make; nothing once the search has ended.
  std::optional<probe> next() const;
  // `r`: of all runs of this probe, including earlier looks. Returns the probe's outcome; a
  // confirmation that needs another look is unclear.
  outcome tell(const probe_result& r);

  // The confirmed rate; nothing if no rate from `least_per_s` up holds the objectives.
  std::optional<double> rate_per_s() const;
  // The edge lies below this with 97.5 % probability; nothing: not even the highest allowed rate
  // failed.
  std::optional<double> edge_below_per_s() const;

 private:
  enum class state { bracketing, locating, confirming, found, hopeless };
  void learn(const probe_result& r);
  void bracket(bool below_the_edge);
  void locate();
  void confirm();
  void go_lower();
  void try_next(double rate_per_s);
  bool may_still_pass(const probe_result& r) const;
  double rate_at(double log_odds_from_the_edge) const;
  double factor_of(double log_odds) const;
  double edge_quantile(double q) const;

  double most_per_s_;
  double least_per_s_;
  state state_ = state::bracketing;
  probe now_;
  double looked_ = 0;  // total length of the looks at it
  bool one_held_ = false;
  bool one_failed_ = false;
  int located_ = 0;
  int confirmations_ = 0;
  std::vector<edge_estimate> edges_;  // one per objective
};

}  // namespace lockmark::capacity
