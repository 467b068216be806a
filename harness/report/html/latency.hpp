// The latencies of a run, from latency.hlog: over all of it, and by stretch of time.
//
// The file has granted attempts only; what was not granted comes from elsewhere (curve.hpp).
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

#include "harness/stats/histogram.hpp"

namespace lockmark::report::html {

// Rows of the heatmap are bands of the logarithm of time: band b is from 10^(b / 10) ns on.
inline constexpr int bands_per_decade = 10;
inline constexpr std::size_t bands = 126;  // 1 ns to more than an hour

// Responses of attempts granted in one stretch of time.
struct moment {
  std::int64_t granted = 0;
  std::int64_t p50_ns = 0, p90_ns = 0, p99_ns = 0, max_ns = 0;
  std::vector<std::uint32_t> by_band;  // empty, or one for each band
};

struct latency {
  stats::histogram response, service, timer_lag;
  std::vector<moment> moments;  // one for each stretch
};

// `edges` are where the stretches begin and the last one ends, in order; with fewer than two there
// are no moments. A last line that breaks off is what a killed run leaves; any other damage ends
// the reading, and `damage` says which line.
latency read_latency(std::istream& in, const std::vector<double>& edges, std::string& damage);

}  // namespace lockmark::report::html
