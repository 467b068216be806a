// A line of a percentile plot: latency by the share of attempts that were at least so fast.
//
// Attempts without a grant count as later than every grant (stats/censored.hpp), so a line ends
// where they begin; and it never says more than so many samples can.
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
  std::map<double, std::string> shown;  // by quantile of `tabled`, "> T" among them
};

// The quantiles that tables show.
inline constexpr std::array<double, 8> tabled{0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999};

// Of histograms; `bound`: times are at most what they say.
curve curve_of(std::string name, const stats::attempts& all, bool bound);
// The few points that an array of quantiles in run.json has.
curve curve_of_summary(std::string name, const json& quantiles, bool bound);

}  // namespace lockmark::report::html
