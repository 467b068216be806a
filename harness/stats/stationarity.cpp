#include "harness/stats/stationarity.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

namespace lockmark::stats {
namespace {

constexpr std::size_t most_values = 600;

// The means of groups of `group` consecutive values; a last, smaller group is left out.
std::vector<double> averaged(std::span<const double> series, std::size_t group) {
  std::vector<double> means;
  for (std::size_t i = 0; i + group <= series.size(); i += group) {
    double sum = 0;
    for (double value : series.subspan(i, group)) sum += value;
    means.push_back(sum / static_cast<double>(group));
  }
  return means;
}

double median(std::vector<double>& values) {
  const std::size_t middle = values.size() / 2;
  const auto upper = values.begin() + static_cast<std::ptrdiff_t>(middle);
  std::nth_element(values.begin(), upper, values.end());
  if (values.size() % 2 == 1) return *upper;
  return (*std::max_element(values.begin(), upper) + *upper) / 2;
}

// Kendall's S: pairs in ascending order minus pairs in descending order.
std::int64_t kendall_s(const std::vector<double>& x) {
  std::int64_t s = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = i + 1; j < x.size(); ++j) s += (x[j] > x[i]) - (x[j] < x[i]);
  }
  return s;
}

double kendall_variance(std::vector<double> x) {
  const auto term = [](std::size_t ties) {
    const auto t = static_cast<double>(ties);
    return t * (t - 1) * (2 * t + 5);
  };
  std::sort(x.begin(), x.end());
  double sum = term(x.size());
  for (std::size_t i = 0, end = 0; i < x.size(); i = end) {
    while (end < x.size() && x[end] == x[i]) ++end;
    sum -= term(end - i);
  }
  return sum / 18;
}

double mann_kendall_p(const std::vector<double>& x) {
  const auto s = static_cast<double>(kendall_s(x));
  const double variance = kendall_variance(x);
  if (variance <= 0 || s == 0) return 1;
  const double z = (std::abs(s) - 1) / std::sqrt(variance);  // with continuity correction
  return std::erfc(z / std::numbers::sqrt2);
}

double theil_sen_slope(const std::vector<double>& x) {
  std::vector<double> slopes;
  slopes.reserve(x.size() * (x.size() - 1) / 2);
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = i + 1; j < x.size(); ++j) {
      slopes.push_back((x[j] - x[i]) / static_cast<double>(j - i));
    }
  }
  return median(slopes);
}

// Of two in the middle the lower, so that it is one of the values.
double occurring_median(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() - 1) / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

void find_ends(std::span<const double> x, trend& into) {
  const std::size_t end = std::max(x.size() / 5, std::min<std::size_t>(3, x.size() / 2));
  into.first = occurring_median(x.first(end));
  into.last = occurring_median(x.last(end));
}

bool is_large(const trend& t) {
  const double change = t.last - t.first;
  return std::abs(t.slope_percent_per_min) >= largest_slope_percent_per_min &&
         change * t.slope_percent_per_min > 0 &&
         std::abs(change) >= largest_change * std::min(t.first, t.last);
}

}  // namespace

trend find_trend(std::span<const double> series, double interval_s) {
  trend result;
  const std::size_t group = (series.size() + most_values - 1) / most_values;
  std::vector<double> x = averaged(series, std::max<std::size_t>(group, 1));
  if (x.size() < 4) return result;
  std::vector<double> unordered = x;
  const double level = std::abs(median(unordered));
  if (level == 0) return result;
  const double steps_per_min = 60 / (interval_s * static_cast<double>(group));
  result.p_value = mann_kendall_p(x);
  result.slope_percent_per_min = 100 * theil_sen_slope(x) * steps_per_min / level;
  result.significant = result.p_value < trend_alpha;
  find_ends(x, result);
  result.non_stationary = result.significant && is_large(result);
  return result;
}

bool warmup_ended(std::span<const double> series, std::size_t window, double tolerance) {
  if (window < 3 || series.size() < window) return false;
  const auto last = series.last(window);
  const auto n = static_cast<double>(window);
  double mean = 0;
  for (double value : last) mean += value / n;
  const double middle = (n - 1) / 2;
  double products = 0, squares = 0;
  for (std::size_t i = 0; i < window; ++i) {
    const double x = static_cast<double>(i) - middle;
    products += x * (last[i] - mean);
    squares += x * x;
  }
  const double slope = products / squares;
  if (std::abs(slope) * (n - 1) <= tolerance * std::abs(mean)) return true;
  double residuals = 0;
  for (std::size_t i = 0; i < window; ++i) {
    const double r = last[i] - mean - slope * (static_cast<double>(i) - middle);
    residuals += r * r;
  }
  return std::abs(slope) <= 2 * std::sqrt(residuals / (n - 2) / squares);
}

}  // namespace lockmark::stats
