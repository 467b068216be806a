#include "harness/capacity/rate_search.hpp"

#include <algorithm>
#include <cmath>

namespace lockmark::capacity {
namespace {

constexpr double enough_achieved = 0.99;
constexpr double first_share = 0.2;

}  // namespace

outcome judge(const probe_result& r, double limit_s) {
  if (r.low_s >= limit_s || r.backlog_low_per_s > 0 || r.dropped > 0) return outcome::fails;
  const bool holds = r.high_s < limit_s && r.achieved_share >= enough_achieved;
  return holds && r.backlog_low_per_s <= 0 ? outcome::passes : outcome::unclear;
}

rate_search::rate_search(double limit_s, double most_per_s, double least_per_s)
    : limit_s_(limit_s),
      most_per_s_(most_per_s),
      least_per_s_(least_per_s),
      rate_(std::max(least_per_s, first_share * most_per_s)) {}

std::optional<probe> rate_search::next() const {
  if (state_ == state::found || state_ == state::hopeless) return std::nullopt;
  return probe{rate_, length_};
}

std::optional<double> rate_search::rate_per_s() const {
  return state_ == state::found ? low_ : std::nullopt;
}

// What is unclear is looked at once more, twice as long; what is unclear then, fails.
void rate_search::tell(const probe_result& r) {
  const outcome verdict = judge(r, limit_s_);
  probes_.push_back({{rate_, length_}, r, verdict});
  const double usual = state_ == state::confirming ? confirmation : 1;
  if (verdict == outcome::unclear && length_ == usual) {
    length_ = 2 * usual;
    return;
  }
  length_ = usual;
  decide(verdict == outcome::passes);
}

void rate_search::decide(bool passed) {
  if (state_ == state::confirming) {
    if (passed) {
      state_ = state::found;
      return;
    }
    high_ = low_;
    low_ = rate_ = *low_ / precision;
    if (++confirmations_ >= most_confirmations || rate_ < least_per_s_) state_ = state::hopeless;
    return;
  }
  (passed ? low_ : high_) = rate_;
  narrow();
}

void rate_search::narrow() {
  if (!high_ && *low_ >= most_per_s_) {
    state_ = state::confirming;
  } else if (!high_) {
    rate_ = std::min(most_per_s_, rate_ * step);
    return;
  } else if (!low_) {
    rate_ /= step;
    if (rate_ < least_per_s_) state_ = state::hopeless;
    return;
  } else if (*high_ / *low_ > precision) {
    state_ = state::bisecting;
    rate_ = std::sqrt(*high_ * *low_);
    return;
  }
  state_ = state::confirming;
  rate_ = *low_;
  length_ = confirmation;
}

}  // namespace lockmark::capacity
