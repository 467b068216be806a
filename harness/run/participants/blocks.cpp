#include "harness/run/participants/blocks.hpp"

#include <algorithm>
#include <bit>

namespace lockmark::run {
namespace {

// 128 MB of events and 32 MB of intervals; only pages that are written take memory.
constexpr std::size_t events_of_all = std::size_t{1} << 22;
constexpr std::size_t interval_bytes_of_all = std::size_t{1} << 25;

}  // namespace

participant_layout participant_layout::for_one_of(std::size_t participants) {
  const std::size_t share = std::bit_ceil(participants);
  participant_layout l;
  l.events = std::clamp<std::size_t>(events_of_all / share, 1 << 14, 1 << 18);
  l.interval_bytes = std::clamp<std::size_t>(interval_bytes_of_all / share, 1 << 18, 1 << 20);
  return l;
}

}  // namespace lockmark::run
