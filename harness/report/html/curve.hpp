// A line of a percentile plot: latency by the share of attempts that were at least that fast.
//
// Attempts without a grant count as later than every grant (stats/censored.hpp), so a line ends
// where they begin; and it shows no more than the number of samples supports.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/report/html/look.hpp"
#include "harness/stats/censored.hpp"

namespace lockmark::report::html {

// x is 1 / (1 - q), so that p90, p99, p99.9 are equally far apart on a logarithmic axis.
struct curve_point {
  double x = 1;
  std::int64_t ns = 0;
};

struct curve {
  std::string name;
  std::vector<curve_point> points;
  std::map<double, std::string> shown;  // by quantile of `tabled`, including "> T"
};

// The quantiles that tables show.
inline constexpr std::array<double, 8> tabled{0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999};

// From histograms; `bound`: the times are upper limits.
curve curve_of(std::string name, const stats::attempts& all, bool bound);
// From the few quantiles in run.json.
curve curve_of_summary(std::string name, const json& quantiles, bool bound);

}  // namespace lockmark::report::html
