// The course of a run: counts per stretch of time, from timeline.jsonl.
//
// A chart has room for a few hundred stretches and an hour has thousands of intervals, so
// neighbours are summed. Quantiles cannot be summed: those of a stretch come from latency.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace lockmark::report::html
