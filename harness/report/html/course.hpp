// The course of a run: counts per stretch of time, from timeline.jsonl; latencies, over the whole
// run and by stretch, from latency.hlog; and percentile curves of them.
//
// A chart has room for a few hundred stretches and an hour has thousands of intervals, so
// neighbours are summed. Quantiles cannot be summed: those of a stretch come from its histograms.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/report/html/look.hpp"
#include "harness/stats/censored.hpp"
#include "harness/stats/histogram.hpp"

namespace lockmark::report::html {

// The possible outcomes of an attempt: the key in run.json and timeline.jsonl, and words.
struct ending {
  std::string_view key;
  std::string_view words;
};
inline constexpr std::array<ending, 8> endings{
    ending{"granted", "granted"},
    ending{"refused_busy", "refused: busy, and not tried again"},
    ending{"refused_deadline", "refused: not granted within the wait timeout"},
    ending{"refused_conflict", "refused: lost to others until the wait timeout"},
    ending{"unavailable", "no server could be asked"},
    ending{"doubt_deadline", "in doubt: asked, never answered"},
    ending{"doubt_lost", "in doubt: asked, then the connection was lost"},
    ending{"in_flight_at_end", "still waiting when the run was over"}};

struct stretch {
  double begin_s = 0;   // since the start of the window
  double length_s = 0;  // measured time; stretches are contiguous
  std::uint64_t attempts = 0;
  std::uint64_t dropped = 0;  // open loop: due, but the backlog was full
  std::array<std::uint64_t, endings.size()> ended{};

  std::uint64_t granted() const { return ended[0]; }
  std::uint64_t not_granted() const { return attempts > ended[0] ? attempts - ended[0] : 0; }
};

// One stretch per line, in time order. Ends at the first unreadable line: a killed run's last line
// may be incomplete. `damage` says which line it was, unless it was the last.
std::vector<stretch> read_timeline(std::istream& in, std::string& damage);

// At most `most` stretches, each of equally many of the given ones (except the last); `most` > 0. A
// last one that is much shorter than the others is joined to the one before it.
std::vector<stretch> joined(const std::vector<stretch>& fine, std::size_t most);

// The start of each, and the end of the last; nothing if there are none.
std::vector<double> edges_of(std::span<const stretch> stretches);

// Rows of the heatmap are bands of log time: band b begins at 10^(b / 10) ns.
inline constexpr int bands_per_decade = 10;
inline constexpr std::size_t bands = 126;  // 1 ns to more than an hour

// Responses of attempts granted in one stretch of time.
struct moment {
  std::int64_t granted = 0;
  std::int64_t p50_ns = 0, p90_ns = 0, p99_ns = 0, max_ns = 0;
  std::vector<std::uint32_t> by_band;  // empty, or one per band
};

// Of granted attempts only: the log has no others.
struct latency {
  stats::histogram response, service, timer_lag;
  std::vector<moment> moments;  // one per stretch
};

// `edges`: the start of each stretch and the end of the last one, in order; with fewer than two
// there are no moments. A killed run leaves an incomplete last line; any other damage ends the
// reading, and `damage` says which line.
latency read_latency(std::istream& in, const std::vector<double>& edges, std::string& damage);

// x is 1 / (1 - q), so that p90, p99, p99.9 are equally far apart on a logarithmic axis.
struct curve_point {
  double x = 1;
  std::int64_t ns = 0;
};

// A line of a percentile plot: latency by the share of attempts that were at least that fast.
// Attempts without a grant count as later than every grant (stats/censored.hpp), so a line ends
// where they begin; and it shows no more than the number of samples supports.
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
