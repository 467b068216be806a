#include "harness/report/html/curve.hpp"

#include <cmath>

#include "harness/report/text.hpp"
#include "harness/stats/confidence.hpp"

namespace lockmark::report::html {
namespace {

constexpr int points_per_nine = 8;

std::vector<curve_point> points_of(const stats::attempts& all) {
  std::vector<curve_point> points;
  const std::int64_t n = all.count();
  if (n == 0) return points;
  for (int k = 0;; ++k) {
    const double x = std::pow(10.0, static_cast<double>(k) / points_per_nine);
    const double q = 1 - 1 / x;
    if (q > 0.5 && !stats::is_supported(q, n)) break;
    const stats::quantile_ns value = all.at_quantile(q);
    if (value.censored) break;
    points.push_back({x, value.value_ns});
  }
  return points;
}

}  // namespace

curve curve_of(std::string name, const stats::attempts& all, bool bound) {
  curve c{std::move(name), points_of(all), {}};
  for (const double q : tabled) {
    if (!stats::is_supported(q, all.count())) continue;
    const stats::quantile_ns value = all.at_quantile(q);
    c.shown[q] = time_text(time_value{value.value_ns, value.censored}, bound);
  }
  return c;
}

curve curve_of_summary(std::string name, const json& quantiles, bool bound) {
  curve c{std::move(name), {}, {}};
  if (!quantiles.is_array()) return c;
  for (const json& entry : quantiles) {
    const double q = real_of(look(entry, {"q"}));
    const json& value = look(entry, {"value_ns"});
    if (!(q > 0 && q < 1) || value.is_null()) continue;
    c.shown[q] = shown_time(value, bound);
    if (value.is_number_integer()) c.points.push_back({1 / (1 - q), value.get<std::int64_t>()});
  }
  return c;
}

}  // namespace lockmark::report::html
