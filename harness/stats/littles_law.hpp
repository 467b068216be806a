// Little's law as a check of the harness: two independent accounts of attempts in flight must
// agree.
//
// One is a gauge, sampled evenly in time during the run; the other is the time integral of all
// attempts' stamps over the same window. Wrong stamps (a lost attempt, a mixed-up clock, two stamps
// swapped) make them differ.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace lockmark::stats {

// The mean number in flight over a window, from the stamps of every attempt that touches it.
class in_flight_integral {
 public:
  // The window [start_ns, end_ns), end_ns > start_ns.
  in_flight_integral(std::int64_t start_ns, std::int64_t end_ns)
      : start_ns_(start_ns), end_ns_(end_ns) {}

  // An attempt in flight over [from_ns, until_ns); time outside the window does not count. For an
  // attempt that has not ended, `until_ns` is the window's end. A negative length counts negative,
  // so that swapped stamps are not hidden.
  void add(std::int64_t from_ns, std::int64_t until_ns) {
    area_ns_ += std::clamp(until_ns, start_ns_, end_ns_) - std::clamp(from_ns, start_ns_, end_ns_);
  }
  void merge(const in_flight_integral& other) { area_ns_ += other.area_ns_; }

  double mean() const {
    return static_cast<double>(area_ns_) / static_cast<double>(end_ns_ - start_ns_);
  }

 private:
  std::int64_t start_ns_;
  std::int64_t end_ns_;
  __int128 area_ns_ = 0;
};

struct littles_law_check {
  bool checked = false;  // false with fewer than 20 samples: nothing can be said
  bool failed = false;   // differs by more than 5 % and by more than 4 standard errors
  double sampled_mean = 0;
  double stamped_mean = 0;
  double relative_difference = 0;  // sampled minus stamped, relative to the larger; -1..1
  double standard_error = 0;       // of sampled_mean, by batch means; in attempts
};

constexpr double littles_law_tolerance = 0.05;
constexpr double littles_law_errors = 4;

// `gauge`: attempts in flight, sampled evenly over the window of `stamped_mean`. Both conditions
// are needed: a busy run's sampling error is tiny, an idle run's relative difference is large.
littles_law_check check_littles_law(std::span<const double> gauge, double stamped_mean);

}  // namespace lockmark::stats
