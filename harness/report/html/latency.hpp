// The latencies of a run, from latency.hlog: over the whole run, and by stretch of time.
//
// The file has granted attempts only; curve.hpp adds the others.
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

#include "harness/stats/histogram.hpp"

namespace lockmark::report::html {

// Rows of the heatmap are bands of log time: band b begins at 10^(b / 10) ns.
inline constexpr int bands_per_decade = 10;
inline constexpr std::size_t bands = 126;  // 1 ns to more than an hour

// Responses of attempts granted in one stretch of time.
struct moment {
  std::int64_t granted = 0;
  std::int64_t p50_ns = 0, p90_ns = 0, p99_ns = 0, max_ns = 0;
  std::vector<std::uint32_t> by_band;  // empty, or one per band
};

struct latency {
  stats::histogram response, service, timer_lag;
  std::vector<moment> moments;  // one per stretch
};

// `edges`: the start of each stretch and the end of the last one, in order; with fewer than two
// there are no moments. A killed run leaves an incomplete last line; any other damage ends the
// reading, and `damage` says which line.
latency read_latency(std::istream& in, const std::vector<double>& edges, std::string& damage);

}  // namespace lockmark::report::html
