// The highest rate that a lock sustains within its objectives: which rate to try next, and when it
// is found. Runs nothing itself; somebody makes each probe and tells what came of it.
//
// Geometric steps until one rate passes and a higher one fails, bisection between them, and then a
// confirmation of the lower one, four times as long and from new runs alone (R21). Three things
// keep chance from making the answer too high:
//   * a rate passes only if the upper bound of the late attempts' share lies within what the
//     objective allows; each bound is wrong once in 200 times, in the confirmation 1,000;
//   * what is unclear is looked at for longer, up to eight times; still unclear, it counts as
//   failed;
//   * the answer must pass a second time and more clearly, so that it takes two mistakes to be
//   above the truth.
// The bracket is finer than the 5 % that R21 asks for: a rate just below the truth can hardly be
// told from the truth, so an error comes from there and the bracket must not add much to it.
// Simulated on 1,000 locks of known capacity (rate_search_test: held for 5 ms, p99 < 50 ms): with a
// usual length of 60 s never above, and within 7 % in 978. With 15 s within 7 % in 815 only, and up
// to 1.6 % above: so few attempts, late in crowds, do not tell enough.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/capacity/evidence.hpp"

namespace lockmark::capacity {

// One more run to make.
struct probe {
  double rate_per_s = 0;
  double length = 1;  // in units of the usual length
  // Looks at the same rate before this one, whose runs count as well.
  int looks_before = 0;
  bool confirms = false;
  double doubt = 0.005;  // with which its bounds are to be made
};

// What all runs of a probe so far have shown.
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

// As the table of probes has them: "passes", "fails", "unclear".
std::string name_of(outcome o);

outcome judge(const probe_result& r);

class rate_search {
 public:
  static constexpr double step = 1.5;
  static constexpr double precision = 1.02;  // bracket: highest over lowest
  static constexpr double confirmation = 4;  // times the usual length
  static constexpr int most_looks = 4;       // each as long as all before it
  static constexpr int most_confirmations = 5;
  static constexpr double doubt = 0.005;  // of each bound
  static constexpr double doubt_confirming = 0.001;

  // `guess_per_s`: about what the lock can do, such as its throughput in a closed loop; the search
  // begins at two fifths of it, because slow probes are long ones. It tries nothing below
  // `least_per_s` or above `most_per_s`.
  rate_search(double guess_per_s, double most_per_s, double least_per_s);

  // The next run to make; nothing when the search has ended.
  std::optional<probe> next() const;
  // `r`: of all runs of this probe together, those of the looks before included.
  void tell(const probe_result& r);

  struct made {
    probe what;
    probe_result found;
    outcome verdict;
  };
  const std::vector<made>& probes() const { return probes_; }

  // The confirmed rate; nothing if no rate above the least one holds the objectives.
  std::optional<double> rate_per_s() const;
  // The lowest rate that did not pass; none was tried: the highest allowed rate passed.
  std::optional<double> failed_per_s() const { return high_; }

 private:
  enum class state { bracketing, bisecting, confirming, found, hopeless };
  void look_from_the_start();
  void decide(bool passed);
  void narrow();

  double most_per_s_;
  double least_per_s_;
  state state_ = state::bracketing;
  probe now_;
  double looked_ = 0;  // length of the looks before
  std::optional<double> low_, high_;
  int confirmations_ = 0;
  std::vector<made> probes_;
};

}  // namespace lockmark::capacity
