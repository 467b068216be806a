#include "harness/capacity/objective.hpp"

#include <fmt/core.h>

#include <cmath>

#include "harness/capacity/evidence.hpp"
#include "harness/capacity/rate_search.hpp"
#include "harness/config/quantity.hpp"

namespace lockmark::capacity {
namespace {

constexpr std::string_view what = "an objective such as p99<20ms or p99.9<1s";

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

// With none of n late, the upper bound is t^2 / (n + t^2), with t of thirty groups (evidence.hpp).
// Half as many again, because a good lock has some late attempts.
std::int64_t objective::attempts_needed() const {
  const double t = student_quantile(rate_search::doubt, 29);
  return std::llround(std::ceil(1.5 * t * t / allowed()));
}

config::parsed<objective> parse_objective(std::string_view text) {
  const auto less = text.find('<');
  if (less == std::string_view::npos) return config::expected(what, text);
  const std::string_view name = trimmed(text.substr(0, less));
  if (name.size() < 2 || name.front() != 'p') return config::expected(what, text);
  const auto percent = config::parse_number(name.substr(1));
  if (!percent || *percent <= 0 || *percent >= 100) {
    return config::expected(what, text, "has no percentile between 0 and 100");
  }
  const auto limit = config::parse_duration(trimmed(text.substr(less + 1)));
  if (!limit) return config::problem{fmt::format("{}: {}", text, limit.error().sentence)};
  if (limit->count() == 0) return config::expected(what, text, "leaves no time at all");
  return objective{*percent / 100, limit->count()};
}

std::string quantile_name(double quantile) {
  return fmt::format("p{:g}", std::round(quantile * 1e8) / 1e6);
}

std::string print_objective(const objective& o) {
  return fmt::format("{}<{}", quantile_name(o.quantile),
                     config::print_duration(duration{o.limit_ns}));
}

}  // namespace lockmark::capacity
