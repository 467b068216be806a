#include "harness/capacity/evidence.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lockmark::capacity {
namespace {

constexpr std::size_t groups_of_a_run = 30;

// Merges neighbours, so that a crowd of late attempts seldom spans two groups.
std::vector<stretch> grouped(const stretches& run) {
  const std::size_t each = std::max<std::size_t>(1, run.parts.size() / groups_of_a_run);
  std::vector<stretch> groups;
  for (std::size_t i = 0; i + each <= run.parts.size(); i += each) {
    stretch g;
    for (std::size_t k = i; k < i + each; ++k) {
      g.attempts += run.parts[k].attempts;
      g.late += run.parts[k].late;
      g.waiting += run.parts[k].waiting / static_cast<double>(each);
    }
    groups.push_back(g);
  }
  return groups;
}

// The upper quantile of the normal distribution, by Acklam's rational approximation of its middle
// and tail (relative error below 1.2e-9).
double normal_quantile(double tail) {
  constexpr double a[] = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                          1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
  constexpr double b[] = {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02,
                          6.680131188771972e+01, -1.328068155288572e+01};
  constexpr double c[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                          -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
  constexpr double d[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                          3.754408661907416e+00};
  if (tail < 0.02425) {
    const double q = std::sqrt(-2 * std::log(tail));
    return -(((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) /
           ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1);
  }
  const double q = 0.5 - tail;
  const double r = q * q;
  return (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
         (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1);
}

std::vector<stretch> grouped(std::span<const stretches> runs) {
  std::vector<stretch> all;
  for (const stretches& run : runs) {
    const auto more = grouped(run);
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

// The length of one of the run's groups.
double group_s(const stretches& run) {
  return run.part_s *
         static_cast<double>(std::max<std::size_t>(1, run.parts.size() / groups_of_a_run));
}

// Bounds sum(x) / sum(y) over groups: the ratio estimator and its linearised variance.
bounds bound_ratio(const std::vector<double>& x, const std::vector<double>& y, double doubt) {
  double sum_x = 0, sum_y = 0;
  for (const double v : x) sum_x += v;
  for (const double v : y) sum_y += v;
  constexpr double infinite = std::numeric_limits<double>::infinity();
  if (sum_y <= 0) return {0, 0, infinite};
  const double ratio = sum_x / sum_y;
  const auto n = static_cast<double>(x.size());
  if (n < 4) return {ratio, 0, infinite};
  double squares = 0;
  for (std::size_t i = 0; i < x.size(); ++i) squares += std::pow(x[i] - ratio * y[i], 2);
  const double margin = student_quantile(doubt, n - 1) * std::sqrt(squares * n / (n - 1)) / sum_y;
  return {ratio, std::max(0.0, ratio - margin), ratio + margin};
}

// The variance of late attempts between groups, relative to that of independent ones.
double crowding(const std::vector<stretch>& groups, double share, double attempts) {
  const auto n = static_cast<double>(groups.size());
  double squares = 0;
  for (const stretch& g : groups) {
    const double off = static_cast<double>(g.late) - share * static_cast<double>(g.attempts);
    squares += off * off;
  }
  const double independent = attempts * share * (1 - share);
  if (independent <= 0 || n < 2) return 1;
  return std::max(1.0, squares * n / (n - 1) / independent);
}

// Wilson's interval, for a share that is worth so many independent attempts.
void set_bounds(share_bounds& result, double t) {
  const double t2 = t * t / result.worth;
  const double centre = (result.share + t2 / 2) / (1 + t2);
  const double spread = std::sqrt(t2 * (result.share * (1 - result.share) + t2 / 4)) / (1 + t2);
  result.low = std::max(0.0, centre - spread);
  result.high = std::min(1.0, centre + spread);
}

// Late attempts in excess of the share that is expected, for each group.
std::vector<double> excess_of(const std::vector<stretch>& groups, double share) {
  std::vector<double> all;
  for (const stretch& g : groups) {
    all.push_back(static_cast<double>(g.late) - share * static_cast<double>(g.attempts));
  }
  return all;
}

}  // namespace

double student_quantile(double tail, double freedom) {
  const double z = normal_quantile(tail);
  const double z3 = z * z * z;
  const double z5 = z3 * z * z;
  return z + (z3 + z) / (4 * freedom) + (5 * z5 + 16 * z3 + 3 * z) / (96 * freedom * freedom) +
         (3 * z5 * z * z + 19 * z5 + 17 * z3 - 15 * z) / (384 * freedom * freedom * freedom);
}

share_bounds bound_share(std::span<const stretches> runs, double doubt) {
  const std::vector<stretch> groups = grouped(runs);
  std::int64_t attempts = 0, late = 0;
  for (const stretch& g : groups) {
    attempts += g.attempts;
    late += g.late;
  }
  share_bounds result;
  result.attempts = attempts;
  if (attempts == 0 || groups.size() < 6) return result;
  const auto n = static_cast<double>(attempts);
  result.share = static_cast<double>(late) / n;
  result.worth = n / crowding(groups, result.share, n);
  set_bounds(result, student_quantile(doubt, static_cast<double>(groups.size() - 1)));
  return result;
}

share_beside bound_share_beside(std::span<const stretches> runs, std::span<const stretches> replays,
                                double expected, double doubt, int looks) {
  share_beside result{bound_share(runs, doubt / looks), 0};
  share_bounds& late = result.late;
  const std::vector<stretch> groups = grouped(runs), beside = grouped(replays);
  if (groups.size() < 6 || groups.size() != beside.size()) return result;
  const auto n = static_cast<double>(late.attempts);
  const std::vector<double> ours = excess_of(groups, late.share);
  const std::vector<double> theirs = excess_of(beside, expected);
  double luck = 0, squares = 0, left = 0;
  for (const double t : theirs) luck += t;
  const double share = late.share - luck / n;
  // Too lucky or unlucky to be corrected: a share lies between 0 and 1.
  if (late.share <= 0 || share <= 0 || share >= 1) return result;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const double off = static_cast<double>(groups[i].late) -
                       share * static_cast<double>(groups[i].attempts) - theirs[i];
    left += off * off;
    squares += ours[i] * ours[i];
  }
  const auto count = static_cast<double>(groups.size());
  result.together = squares > 0 ? std::max(0.0, 1 - left / squares) : 0;
  // Where few were late, what is left is little by luck, too.
  left *= std::max(1.0, share / late.share);
  late.share = share;
  late.worth = n * n * share * (1 - share) / std::max(1e-9, left * count / (count - 1));
  set_bounds(late, student_quantile(doubt / looks, count - 1));
  return result;
}

growth_bounds bound_growth(std::span<const stretches> runs, double doubt) {
  double time_squares = 0, products = 0, waiting_squares = 0, freedom = -1;
  for (const stretches& run : runs) {
    const auto groups = grouped(run);
    if (groups.empty()) continue;
    const auto n = static_cast<double>(groups.size());
    double mean = 0;
    for (const stretch& g : groups) mean += g.waiting / n;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const double t = (static_cast<double>(i) - (n - 1) / 2) * group_s(run);
      const double w = groups[i].waiting - mean;
      time_squares += t * t;
      products += t * w;
      waiting_squares += w * w;
    }
    freedom += n - 1;
  }
  constexpr double infinite = std::numeric_limits<double>::infinity();
  if (freedom < 2 || time_squares <= 0) return {0, -infinite, infinite};
  const double slope = products / time_squares;
  const double residual = std::max(0.0, waiting_squares - slope * products) / freedom;
  const double margin = student_quantile(doubt, freedom) * std::sqrt(residual / time_squares);
  return {slope, slope - margin, slope + margin};
}

// By Little's law, the number of waiting attempts times time is the sum of their waits.
bounds bound_mean_wait_s(std::span<const stretches> runs, double doubt) {
  std::vector<double> waits, attempts;
  for (const stretches& run : runs) {
    for (const stretch& g : grouped(run)) {
      waits.push_back(g.waiting * group_s(run));
      attempts.push_back(static_cast<double>(g.attempts));
    }
  }
  return bound_ratio(waits, attempts, doubt);
}

bounds bound_attempts_per_s(std::span<const stretches> runs, double doubt) {
  std::vector<double> attempts, seconds;
  for (const stretches& run : runs) {
    for (const stretch& g : grouped(run)) {
      attempts.push_back(static_cast<double>(g.attempts));
      seconds.push_back(group_s(run));
    }
  }
  return bound_ratio(attempts, seconds, doubt);
}

}  // namespace lockmark::capacity
