#include "harness/capacity/replay_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <span>

#include "harness/capacity/observed.hpp"
#include "harness/config/quantity.hpp"

namespace lockmark::capacity {
namespace {

constexpr double first_below_edge = 0.85;
constexpr double then_below_edge = 0.95;
constexpr double lower_by = 0.97;
constexpr int most_rates = 5;
constexpr double least_explained = 0.25;
constexpr double resolution = 1.004;
// Arrivals that are replayed for the share of late ones in the long run, and for single minutes.
constexpr double long_run = 200'000;
constexpr double arrivals_of_minutes = 1'000'000;
constexpr double least_minutes = 20, most_minutes = 200;
constexpr double least_scale = 0.1, most_scale = 10;

duration of_seconds(double s) {
  return duration{std::llround(1e9 * s)};
}

double limit_s(const objective& o) {
  return static_cast<double>(o.limit_ns) / 1e9;
}

// The highest value from `low` to `high` at which `holds`, which it does up to some value.
template <class Holds>
double highest(double low, double high, Holds holds) {
  while (high / low > resolution) {
    const double middle = std::sqrt(low * high);
    (holds(middle) ? low : high) = middle;
  }
  return low;
}

double waiting_of(const std::vector<stretches>& runs) {
  double sum = 0;
  for (const stretches& run : runs) {
    for (const stretch& s : run.parts) sum += s.waiting * run.part_s;
  }
  return sum;
}

double late_of(const std::vector<stretches>& runs) {
  double late = 0;
  for (const stretches& run : runs) {
    for (const stretch& s : run.parts) late += static_cast<double>(s.late);
  }
  return late;
}

// The share of the variance of `runs` in how many were waiting that `replays` had, too.
double explained_share(const std::vector<stretches>& runs, const std::vector<stretches>& replays) {
  double sum = 0, count = 0, squares = 0, left = 0;
  for (const stretches& run : runs) {
    for (const stretch& s : run.parts) sum += s.waiting;
    count += static_cast<double>(run.parts.size());
  }
  for (std::size_t r = 0; r < runs.size(); ++r) {
    for (std::size_t i = 0; i < runs[r].parts.size(); ++i) {
      const double waiting = runs[r].parts[i].waiting;
      squares += std::pow(waiting - sum / count, 2);
      left += std::pow(waiting - replays[r].parts[i].waiting, 2);
    }
  }
  return squares > 0 ? std::max(0.0, 1 - left / squares) : 0;
}

}  // namespace

replay_search::replay_search(config::job like, lock_model first, std::vector<objective> objectives)
    : like_(std::move(like)), model_(std::move(first)), objectives_(std::move(objectives)) {
  model_.patience_s = in_seconds(like_.wait);
  edge_ = edge();
  go_to(first_below_edge * edge_, false);
}

std::optional<probe> replay_search::next() const {
  if (state_ == state::found || state_ == state::gave_up) return std::nullopt;
  return now_;
}

std::optional<double> replay_search::rate_per_s() const {
  if (state_ != state::found) return std::nullopt;
  return now_.rate_per_s;
}

config::job replay_search::job_at(double rate_per_s) const {
  config::job j = like_;
  j.rate = *config::parse_rate(fmt::format("{:.3f}/s", rounded(rate_per_s)));
  return j;
}

void replay_search::go_to(double rate_per_s, bool confirms) {
  now_ = {.rate_per_s = rounded(rate_per_s), .confirms = confirms, .doubt = doubt};
  looks_.clear();
  observed_.clear();
  minutes_ = minutes_held_at(now_.rate_per_s);
}

double replay_search::late_in_the_long_run(double rate_per_s, std::size_t objective) const {
  const auto arrivals = pace::arrivals_of(job_at(rate_per_s), 1, of_seconds(long_run / rate_per_s));
  const auto out = replay(arrivals, model_, like_.seed);
  const auto late = std::ranges::count_if(out, [&](const outcome_of_arrival& a) {
    return !a.granted || a.wait_s > limit_s(objectives_[objective]);
  });
  return static_cast<double>(late) / static_cast<double>(std::max<std::size_t>(1, out.size()));
}

double replay_search::minutes_held_at(double rate_per_s) const {
  const double count =
      std::clamp(std::floor(arrivals_of_minutes / (60 * rate_per_s)), least_minutes, most_minutes);
  const auto arrivals = pace::arrivals_of(job_at(rate_per_s), 1, of_seconds(60 * count));
  const auto out = replay(arrivals, model_, like_.seed);
  std::vector<bool> holds(static_cast<std::size_t>(count), true);
  for (const objective& o : objectives_) {
    const stretches minutes = stretches_of(out, limit_s(o), 60, 0, 60 * count);
    for (std::size_t m = 0; m < holds.size(); ++m) {
      const stretch& s = minutes.parts[m];
      const double allowed = o.allowed() * static_cast<double>(s.attempts);
      holds[m] = holds[m] && static_cast<double>(s.late) <= allowed;
    }
  }
  return static_cast<double>(std::ranges::count(holds, true)) / count;
}

// The rate at which, in the long run, as many are late as an objective allows.
double replay_search::edge() const {
  double service_s = 0;
  for (const double h : model_.handoffs_s) service_s += model_.scale * h;
  service_s /= static_cast<double>(model_.handoffs_s.size());
  const auto some = pace::arrivals_of(job_at(1000), 1, of_seconds(1));
  double holds_s = 0;
  for (const pace::arrival& a : some) holds_s += in_seconds(a.hold);
  service_s += holds_s / static_cast<double>(std::max<std::size_t>(1, some.size()));
  const auto keys = static_cast<double>(like_.keys.count(like_.clients_in_all()));
  const double most = 2 * keys / std::max(service_s, 1e-6);
  return highest(most / 1000, most, [this](double rate) {
    for (std::size_t i = 0; i < objectives_.size(); ++i) {
      if (late_in_the_long_run(rate, i) > objectives_[i].allowed()) return false;
    }
    return true;
  });
}

double replay_search::promising_rate() const {
  return highest(edge_ / 10, edge_,
                 [this](double rate) { return minutes_held_at(rate) >= promised; });
}

std::vector<stretches> replay_search::replays_of(const std::vector<seen_run>& runs,
                                                 std::size_t objective) const {
  std::vector<stretches> all;
  for (const seen_run& run : runs) {
    const stretches& measured = run.against[objective];
    const double length_s = measured.part_s * static_cast<double>(measured.parts.size());
    all.push_back(stretches_of(replay(run.arrivals, model_, run.seed),
                               limit_s(objectives_[objective]), measured.part_s, run.warmup_s,
                               run.warmup_s + length_s));
  }
  return all;
}

// Such that the replays of all runs waited as long as the runs.
void replay_search::fit_scale() {
  std::vector<stretches> measured;
  for (const seen_run& run : all_) measured.push_back(run.against.front());
  const double waited = waiting_of(measured);
  model_.scale = highest(least_scale, most_scale, [&](double scale) {
    model_.scale = scale;
    return waiting_of(replays_of(all_, 0)) <= waited;
  });
}

// Whatever the order, as many wait at a time; but in none, more wait for very long. Returns how far
// the number of late attempts is from that of the runs, as a factor.
double replay_search::fit_to(service_order order) {
  model_.order = order;
  fit_scale();
  std::vector<stretches> measured;
  for (const seen_run& run : all_) measured.push_back(run.against.front());
  const auto replays = replays_of(all_, 0);
  explained_ = explained_share(measured, replays);
  return std::abs(std::log((late_of(measured) + 1) / (late_of(replays) + 1)));
}

void replay_search::fit() {
  const double in_order = fit_to(service_order::of_arrival);
  const double in_none = fit_to(service_order::random);
  if (in_order <= in_none) fit_to(service_order::of_arrival);
  edge_ = edge();
}

probe_result replay_search::tell(const config::job& as_run, const observation& seen,
                                 outcome& verdict) {
  const stretches& first = seen.against.front();
  const double length_s = seen.warmup_s + first.part_s * static_cast<double>(first.parts.size());
  const seen_run run{seen.against, pace::arrivals_of(as_run, seen.workers, of_seconds(length_s)),
                     seen.warmup_s, as_run.seed};
  all_.push_back(run);
  looks_.push_back(run);
  observed_.push_back(seen);
  if (!now_.confirms) fit();

  probe_result r = result_of(observed_, objectives_, doubt);
  for (std::size_t i = 0; i < objectives_.size(); ++i) {
    r.objectives[i].late = bound_share_beside(against(observed_, i), replays_of(looks_, i),
                                              late_in_the_long_run(now_.rate_per_s, i), doubt,
                                              now_.confirms ? most_looks : 1)
                               .late;
  }
  verdict = judge(r);
  if (!now_.confirms) {
    if (explained_ < least_explained) {
      state_ = state::gave_up;
    } else if (++done_ < plateaus) {
      go_to(then_below_edge * edge_, false);
    } else {
      go_to(promising_rate(), true);
    }
    return r;
  }
  if (verdict == outcome::passes) {
    state_ = state::found;
  } else if (verdict == outcome::unclear && now_.looks_before + 1 < most_looks) {
    ++now_.looks_before;
  } else if (++confirmations_ == most_rates) {
    state_ = state::gave_up;
  } else {
    verdict = outcome::fails;
    fit();
    go_to(std::min(lower_by * now_.rate_per_s, promising_rate()), true);
  }
  return r;
}

}  // namespace lockmark::capacity
