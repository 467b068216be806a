#include "harness/capacity/rate_search.hpp"

#include <algorithm>
#include <cmath>

namespace lockmark::capacity {
namespace {

constexpr double enough_granted = 0.99;
constexpr double first_share = 0.4;
// Accuracy of the edge required before a confirmation: the standard deviation of its logarithm.
constexpr double close_enough = 0.012;
constexpr int most_locating = 16;  // probes
// The next four are differences in log odds of being late, which decide how hard it is to
// distinguish a rate from the edge; the slope turns them into rates. Probes on both sides of the
// edge show the slope best.
constexpr double probed_above = 0.8;
constexpr double probed_below = -0.5;
constexpr double first_confirmed = -0.4;  // higher, it could be above the edge or seldom pass
constexpr double step_down = -0.1;
constexpr int most_confirmations = 20;
constexpr int looks_before_a_pass = 2;
constexpr double leniency = 0.5;  // standard errors

bool too_much_left_out(const probe_result& r) {
  return r.dropped > 0 || r.granted_share < enough_granted;
}

double standard_error(double allowed, double worth) {
  return std::sqrt(allowed * (1 - allowed) / worth);
}

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
  if (too_much_left_out(r)) return outcome::fails;
  // A growing queue will break the objective, but growth by chance passes with time.
  if (r.backlog.low > 0) return outcome::unclear;
  return std::ranges::all_of(r.objectives, surely_in_time) ? outcome::passes : outcome::unclear;
}

bool lies_within(const probe_result& r) {
  return !too_much_left_out(r) &&
         std::ranges::all_of(r.objectives, [](const auto& o) { return o.late.share < o.allowed; });
}

rate_search::rate_search(double guess_per_s, double most_per_s, double least_per_s)
    : most_per_s_(most_per_s), least_per_s_(least_per_s) {
  try_next(first_share * guess_per_s);
}

std::optional<probe> rate_search::next() const {
  if (state_ == state::found || state_ == state::hopeless) return std::nullopt;
  return now_;
}

std::optional<double> rate_search::rate_per_s() const {
  if (state_ != state::found) return std::nullopt;
  return now_.rate_per_s;
}

std::optional<double> rate_search::edge_below_per_s() const {
  if (!one_failed_) return std::nullopt;
  return edge_quantile(0.975);
}

outcome rate_search::tell(const probe_result& r) {
  outcome verdict = judge(r);
  looked_ += now_.length;
  if (state_ != state::confirming) {
    learn(r);
    bracket(lies_within(r));
    return verdict;
  }
  if (verdict == outcome::passes && now_.looks_before < looks_before_a_pass) {
    verdict = outcome::unclear;
  }
  if (verdict == outcome::passes) {
    state_ = state::found;
  } else if (verdict == outcome::unclear && now_.looks_before + 1 < most_looks &&
             may_still_pass(r)) {
    ++now_.looks_before;
    now_.length = looked_;
  } else {
    learn(r);
    go_lower();
  }
  return verdict;
}

// An attempt that was never begun or never granted counts as late.
void rate_search::learn(const probe_result& r) {
  if (edges_.empty()) {
    for (const auto& o : r.objectives) edges_.emplace_back(o.allowed);
  }
  for (std::size_t i = 0; i < r.objectives.size(); ++i) {
    share_bounds late = r.objectives[i].late;
    if (too_much_left_out(r)) late.share = 1;
    edges_[i].add(now_.rate_per_s, late);
  }
}

void rate_search::bracket(bool below_the_edge) {
  (below_the_edge ? one_held_ : one_failed_) = true;
  if (one_held_ && one_failed_) {
    locate();
  } else if (one_held_ && now_.rate_per_s >= most_per_s_) {
    confirm();
  } else if (one_failed_ && now_.rate_per_s <= least_per_s_) {
    state_ = state::hopeless;
  } else {
    try_next(below_the_edge ? now_.rate_per_s * step : now_.rate_per_s / step);
  }
}

void rate_search::locate() {
  state_ = state::locating;
  const double spread = std::log(edge_quantile(0.84) / edge_quantile(0.16)) / 2;
  if (spread <= close_enough || located_ >= most_locating) return confirm();
  ++located_;
  try_next(rate_at(located_ % 2 == 1 ? probed_above : probed_below));
}

void rate_search::confirm() {
  state_ = state::confirming;
  try_next(one_failed_ ? rate_at(first_confirmed) : most_per_s_);
}

void rate_search::go_lower() {
  const double failed = now_.rate_per_s;
  one_failed_ = true;
  if (failed <= least_per_s_ || ++confirmations_ >= most_confirmations) {
    state_ = state::hopeless;
    return;
  }
  // The more confirmations fail, the less is the edge worth that was located.
  const double further = std::exp(-close_enough / 2 * confirmations_);
  try_next(std::min(failed * std::min(factor_of(step_down), further), rate_at(first_confirmed)));
}

void rate_search::try_next(double rate_per_s) {
  now_ = probe{};
  now_.rate_per_s = std::clamp(rate_per_s, least_per_s_, most_per_s_);
  now_.confirms = state_ == state::confirming;
  if (now_.confirms) {
    now_.length = confirmation;
    now_.doubt = doubt_confirming;
  }
  looked_ = 0;
}

// True if the bounds would pass, should the remaining looks show about the same as those so far.
bool rate_search::may_still_pass(const probe_result& r) const {
  const double longer = std::exp2(most_looks - 1 - now_.looks_before);
  return std::ranges::all_of(r.objectives, [longer](const auto& o) {
    const double t = student_quantile(doubt_confirming, 1000);
    const double share = o.late.share - leniency * standard_error(o.allowed, o.late.worth);
    return share + t * standard_error(o.allowed, o.late.worth * longer) < o.allowed;
  });
}

double rate_search::rate_at(double log_odds_from_the_edge) const {
  return edge_quantile(0.5) * factor_of(log_odds_from_the_edge);
}

double rate_search::factor_of(double log_odds) const {
  double flattest = edges_.front().slope();
  for (const edge_estimate& e : edges_) flattest = std::min(flattest, e.slope());
  return std::exp(log_odds / flattest);
}

double rate_search::edge_quantile(double q) const {
  double lowest = most_per_s_;
  for (const edge_estimate& e : edges_) lowest = std::min(lowest, e.quantile_per_s(q));
  return lowest;
}

}  // namespace lockmark::capacity
