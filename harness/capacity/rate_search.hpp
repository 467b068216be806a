// The highest rate that a lock sustains within an objective: which rate to try next, and when it is
// found. Runs nothing itself; somebody makes each probe and tells what came of it.
//
// Geometric steps until one rate passes and a higher one fails, bisection between them, and then a
// confirmation of the lower one, three times as long. A probe passes only if its confidence
// interval lies within the objective, so chance makes the answer lower, not higher (R21).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace lockmark::capacity {

struct probe {
  double rate_per_s = 0;
  double length = 1;  // in units of the usual length
};

// What a probe measured.
struct probe_result {
  double low_s = 0;  // 95 % interval of the objective's quantile of responses
  double high_s = 0;
  double achieved_share = 1;  // of the attempts that the rate offers
  std::uint64_t dropped = 0;
  // The backlog's growth in attempts per second, 95 % interval.
  double backlog_low_per_s = 0;
  double backlog_high_per_s = 0;
};

enum class outcome { passes, fails, unclear };

// `limit_s`: what the quantile must stay below.
outcome judge(const probe_result& r, double limit_s);

class rate_search {
 public:
  static constexpr double step = 1.5;
  static constexpr double precision = 1.05;  // bracket: highest over lowest
  static constexpr double confirmation = 3;  // times the usual length
  static constexpr int most_confirmations = 4;

  // Begins at a fifth of `most_per_s`, a bound on the rate such as 1/(hold + hand-off).
  rate_search(double limit_s, double most_per_s, double least_per_s = 0.1);

  // The next probe to make; nothing when the search has ended.
  std::optional<probe> next() const;
  void tell(const probe_result& r);

  struct made {
    probe what;
    probe_result found;
    outcome verdict;
  };
  const std::vector<made>& probes() const { return probes_; }

  // The confirmed rate; nothing if no rate above the least one holds the objective.
  std::optional<double> rate_per_s() const;
  // The rate that failed just above it; none was tried: the bound itself passed.
  std::optional<double> failed_per_s() const { return high_; }

 private:
  enum class state { bracketing, bisecting, confirming, found, hopeless };
  void decide(bool passed);
  void narrow();

  double limit_s_;
  double most_per_s_;
  double least_per_s_;
  state state_ = state::bracketing;
  double rate_;
  double length_ = 1;
  std::optional<double> low_, high_;
  int confirmations_ = 0;
  std::vector<made> probes_;
};

}  // namespace lockmark::capacity
