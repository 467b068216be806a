#include "harness/capacity/rate_search.hpp"

#include <algorithm>
#include <cmath>

namespace lockmark::capacity {
namespace {

constexpr double enough_granted = 0.99;
constexpr double first_share = 0.4;

}  // namespace

std::string name_of(outcome o) {
  switch (o) {
    case outcome::passes: return "passes";
    case outcome::fails: return "fails";
    case outcome::unclear: return "unclear";
  }
  return "?";
}

outcome judge(const probe_result& r) {
  const auto surely_late = [](const auto& o) { return o.late.low > o.allowed; };
  const auto surely_in_time = [](const auto& o) { return o.late.high < o.allowed; };
  if (std::ranges::any_of(r.objectives, surely_late)) return outcome::fails;
  if (r.dropped > 0 || r.granted_share < enough_granted) return outcome::fails;
  // A queue that grows will break the objective, but a growth by chance passes with time.
  if (r.backlog.low > 0) return outcome::unclear;
  return std::ranges::all_of(r.objectives, surely_in_time) ? outcome::passes : outcome::unclear;
}

rate_search::rate_search(double guess_per_s, double most_per_s, double least_per_s)
    : most_per_s_(most_per_s), least_per_s_(least_per_s) {
  now_.rate_per_s = std::clamp(first_share * guess_per_s, least_per_s, most_per_s);
}

std::optional<probe> rate_search::next() const {
  if (state_ == state::found || state_ == state::hopeless) return std::nullopt;
  return now_;
}

std::optional<double> rate_search::rate_per_s() const {
  return state_ == state::found ? low_ : std::nullopt;
}

void rate_search::tell(const probe_result& r) {
  const outcome verdict = judge(r);
  probes_.push_back({now_, r, verdict});
  looked_ += now_.length;
  if (verdict == outcome::unclear && now_.looks_before + 1 < most_looks) {
    ++now_.looks_before;
    now_.length = looked_;
    return;
  }
  decide(verdict == outcome::passes);
  look_from_the_start();
}

void rate_search::look_from_the_start() {
  now_.looks_before = 0;
  now_.confirms = state_ == state::confirming;
  now_.length = now_.confirms ? confirmation : 1;
  now_.doubt = now_.confirms ? doubt_confirming : doubt;
  looked_ = 0;
}

void rate_search::decide(bool passed) {
  if (state_ == state::confirming) {
    if (passed) {
      state_ = state::found;
      return;
    }
    high_ = low_;
    low_ = now_.rate_per_s = *low_ / precision;
    if (++confirmations_ >= most_confirmations || now_.rate_per_s < least_per_s_) {
      state_ = state::hopeless;
    }
    return;
  }
  (passed ? low_ : high_) = now_.rate_per_s;
  narrow();
}

void rate_search::narrow() {
  if (!high_ && *low_ < most_per_s_) {
    now_.rate_per_s = std::min(most_per_s_, now_.rate_per_s * step);
  } else if (!low_ && now_.rate_per_s <= least_per_s_) {
    state_ = state::hopeless;
  } else if (!low_) {
    now_.rate_per_s = std::max(least_per_s_, now_.rate_per_s / step);
  } else if (high_ && *high_ / *low_ > precision) {
    state_ = state::bisecting;
    now_.rate_per_s = std::sqrt(*high_ * *low_);
  } else {
    state_ = state::confirming;
    now_.rate_per_s = *low_;
  }
}

}  // namespace lockmark::capacity
