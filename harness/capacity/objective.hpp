// A latency objective: "p99<20ms" over all attempts, including those never granted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "harness/config/parsed.hpp"

namespace lockmark::capacity {

struct objective {
  double quantile = 0.99;  // above 0, below 1
  std::int64_t limit_ns = 0;

  // The share of attempts that may be later than the limit.
  double allowed() const { return 1 - quantile; }
  // Fewer attempts than this cannot show that the objective is held.
  std::int64_t attempts_needed() const;
  bool operator==(const objective&) const = default;
};

// "p99<20ms", "p99.9 < 1s", "p50<800us".
config::parsed<objective> parse_objective(std::string_view text);
std::string print_objective(const objective& o);  // "p99<20ms"
std::string quantile_name(double quantile);       // "p99.9"

}  // namespace lockmark::capacity
