#include "harness/agents/host_clock.hpp"

#include <algorithm>
#include <cmath>

namespace lockmark::agents {
namespace {

// A line reaches the middle of the bounds within a second, or goes on at this slope.
constexpr double horizon_ns = 1e9;
constexpr double steepest = 500e-6;

}  // namespace

void host_clock::learn(const exchange& e) {
  if (e.heard_ns < e.sent_ns || e.answered_ns < e.received_ns) return;
  const double drift = e.drift_ppm * 1e-6;
  const double between = drift * static_cast<double>(e.answered_ns - e.received_ns);
  bounds fresh{static_cast<double>(e.sent_ns - e.received_ns) - between,
               static_cast<double>(e.heard_ns - e.answered_ns), e.answered_ns};
  if (fresh.high_ns < fresh.low_ns) return;
  ++exchanges_;
  if (lines_.empty()) return begin(fresh, e.heard_ns, drift);
  const double widened =
      drift * static_cast<double>(std::max<std::int64_t>(0, e.answered_ns - known_.at_ns));
  const bounds before{known_.low_ns - widened, known_.high_ns + widened, e.answered_ns};
  if (before.low_ns > fresh.high_ns || before.high_ns < fresh.low_ns) {
    ++breaks_;  // what was known before is no longer so
  } else {
    fresh.low_ns = std::max(fresh.low_ns, before.low_ns);
    fresh.high_ns = std::min(fresh.high_ns, before.high_ns);
  }
  if (asked_until_ns_ == 0) return begin(fresh, e.heard_ns, drift);
  known_ = fresh;
  line next;
  next.theirs_ns = std::max(e.heard_ns, asked_until_ns_);
  next.ours_ns = along(lines_.back(), next.theirs_ns);
  const double used_ns = static_cast<double>(next.theirs_ns - next.ours_ns);
  next.slope = std::clamp((known_.middle() - used_ns) / horizon_ns, -steepest, steepest);
  next.middle_ns = known_.middle();
  const double age_ns = static_cast<double>(std::max<std::int64_t>(0, next.ours_ns - known_.at_ns));
  next.half_ns = known_.half() + drift * age_ns;
  next.drift = drift;
  lines_.push_back(next);
}

// The first line may begin anywhere: in the middle.
void host_clock::begin(const bounds& first, std::int64_t theirs_ns, double drift) {
  known_ = first;
  const double age_ns =
      static_cast<double>(theirs_ns) - first.middle() - static_cast<double>(first.at_ns);
  lines_ = {{theirs_ns, theirs_ns - std::llround(first.middle()), 0, first.middle(),
             first.half() + drift * std::max(0.0, age_ns), drift}};
}

std::int64_t host_clock::along(const line& l, std::int64_t theirs_ns) {
  const std::int64_t since_ns = theirs_ns - l.theirs_ns;
  return l.ours_ns + since_ns - std::llround(l.slope * static_cast<double>(since_ns));
}

const host_clock::line& host_clock::line_of_theirs(std::int64_t theirs_ns) const {
  const auto after = std::ranges::upper_bound(lines_, theirs_ns, {}, &line::theirs_ns);
  return after == lines_.begin() ? lines_.front() : *(after - 1);
}

const host_clock::line& host_clock::line_of_ours(std::int64_t ours_ns) const {
  const auto after = std::ranges::upper_bound(lines_, ours_ns, {}, &line::ours_ns);
  return after == lines_.begin() ? lines_.front() : *(after - 1);
}

std::int64_t host_clock::to_ours(std::int64_t theirs_ns) {
  asked_until_ns_ = std::max(asked_until_ns_, theirs_ns);
  return along(line_of_theirs(theirs_ns), theirs_ns);
}

std::int64_t host_clock::to_theirs(std::int64_t ours_ns) const {
  const line& l = line_of_ours(ours_ns);
  const auto since_ns = static_cast<double>(ours_ns - l.ours_ns);
  return l.theirs_ns + (ours_ns - l.ours_ns) + std::llround(since_ns * l.slope / (1 - l.slope));
}

std::int64_t host_clock::error_ns(std::int64_t ours_ns) const {
  const line& l = line_of_ours(ours_ns);
  const auto since_ns = static_cast<double>(ours_ns - l.ours_ns);
  const double used_ns = static_cast<double>(l.theirs_ns - l.ours_ns) + l.slope * since_ns;
  return std::llround(
      std::ceil(std::abs(used_ns - l.middle_ns) + l.half_ns + l.drift * std::abs(since_ns)));
}

std::int64_t host_clock::offset_ns() const {
  return std::llround(known_.middle());
}

}  // namespace lockmark::agents
