#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "harness/run/run_job.hpp"
#include "harness/stats/stationarity.hpp"

namespace lockmark::run {
namespace {

// The standard deviation of the number of random arrivals in a window is its square root.
double chance_per_s(const config::job& job, double offered, double window_s) {
  if (job.loop == config::loop_kind::closed || job.loop == config::loop_kind::open) return 0;
  const bool sessions = job.loop == config::loop_kind::partly_open;
  const double each = sessions ? static_cast<double>(job.cycles) : 1;
  return window_s > 0 ? 3 * std::sqrt(offered * each / window_s) : 0;
}

// Why there is nothing to judge, for a run whose lock answered no attempt in the window.
std::string nothing_measured(const result& r) {
  const tally& counts = r.totals.counts;
  if (r.attempts() == 0) return "nothing was measured: no attempt ended";
  std::string text = fmt::format(
      "nothing was measured: not one of {} attempts was granted or refused", r.attempts());
  const auto add = [&text](std::uint64_t n, std::string_view what) {
    if (n > 0) text += fmt::format("; {} {}", n, what);
  };
  add(counts[counter::doubt_deadline], "had no answer");
  add(counts[counter::doubt_lost], "lost their connection");
  add(counts[counter::unavailable], "could not be asked");
  add(counts[counter::in_flight_at_end], "had not ended");
  return text;
}

// Few clients took most of the grants: Jain's index, times all clients, is how many of them share
// the grants in effect. Only of closed loops, where every client always wants the lock; with fewer
// than five grants a client, chance alone makes them uneven.
std::optional<message> few_took_most(const result& r) {
  std::vector<std::uint64_t> grants = r.found.grants_by_client;
  const auto all = static_cast<double>(std::accumulate(grants.begin(), grants.end(), 0ULL));
  const auto n = static_cast<double>(grants.size());
  if (r.job.arrives_by_rate() || all < 5 * n || all == 0) return std::nullopt;
  double squares = 0;
  for (const std::uint64_t g : grants) squares += static_cast<double>(g) * static_cast<double>(g);
  const double in_effect = all * all / squares;
  if (in_effect / n >= 0.5) return std::nullopt;
  const auto few = static_cast<std::ptrdiff_t>(std::ceil(in_effect - 1e-9));
  std::ranges::sort(grants, std::greater{});
  const auto took =
      static_cast<double>(std::accumulate(grants.begin(), grants.begin() + few, 0ULL));
  return message{
      "few_took_most",
      {fmt::format("{:.0f}", n), fmt::format("{}", few), fmt::format("{:.0f}", 100 * took / all)}};
}

}  // namespace

std::optional<message> result::untested() const {
  if (violations() > 0 || (answered() && found.chances > 0)) return std::nullopt;
  if (!answered()) return message{"untested_nothing", {nothing_measured(*this)}};
  const auto because = [](std::string id) { return message{"untested_" + id, {}}; };
  if (lock_has.has(feature::optimistic)) return because("no_conflict");
  if (job.clients_in_all() == 1) return because("one_client");
  if (holders == 0) return because("shared");
  if (job.keys.kind == config::key_choice::shape::own) return because("own_keys");
  if (grants_in_all == 0) return because("no_grant");
  return because(found.lasting_holds == 0 ? "no_hold" : "no_meeting");
}

stability stability_of(const std::vector<timeline_point>& timeline) {
  std::vector<double> p50s;
  std::int64_t censored_ns = std::numeric_limits<std::int64_t>::max();  // from there on
  for (const timeline_point& p : timeline) {
    if (p.attempts == 0) continue;
    p50s.push_back(static_cast<double>(p.response_p50.value_ns));
    if (p.response_p50.censored) censored_ns = std::min(censored_ns, p.response_p50.value_ns);
  }
  const double each_s = std::chrono::duration<double>(interval_length).count();
  const stats::trend trend = stats::find_trend(p50s, each_s);
  const auto end = [&](double value) -> stats::quantile_ns {
    const std::int64_t ns = std::llround(value);
    return {ns, ns >= censored_ns};
  };
  return {p50s.size() >= 4, trend.non_stationary, end(trend.first), end(trend.last)};
}

std::vector<message> result::starvation() const {
  std::vector<message> all;
  if (found.clients.never_granted > 0) {
    all.push_back({"never_granted",
                   {fmt::format("{}", found.clients.attempted),
                    fmt::format("{}", found.clients.never_granted)}});
  }
  if (auto few = few_took_most(*this)) all.push_back(std::move(*few));
  return all;
}

void judge_run(result& r, double cores) {
  self_measurement& m = r.self;
  m.closed_loop = !r.job.arrives_by_rate();
  m.reported_p99_ns = r.totals[series::response].value_at_quantile(0.99);
  m.reported_p50_ns = r.totals[series::response].value_at_quantile(0.5);
  const stats::histogram& pipe = r.totals[series::pipe];
  m.pipe_p50_ns = pipe.value_at_quantile(0.5);
  m.pipe_p99_ns = pipe.value_at_quantile(0.99);
  m.pipe_unknown = !pipe.empty() && pipe.min_ns() == 0;
  m.timer_lag_p99_ns = r.totals[series::timer_lag].value_at_quantile(0.99);
  m.hiccup_p999_ns = r.late_wakes.value_at_quantile(0.999);
  m.hiccup_p99_of_time_ns = r.hiccup.value_at_quantile(0.99);
  m.attempts = r.attempts();
  m.dropped = r.totals.counts[counter::dropped];
  m.clients_all_busy = !r.totals[series::queue_lag].empty();
  m.offered_per_s = offered_per_s(r.job) * (1 - r.absent_share);
  if (r.window_ns > 0) m.achieved_per_s = static_cast<double>(r.attempts()) / r.window_s();
  m.chance_per_s = chance_per_s(r.job, m.offered_per_s, r.window_s());
  m.busiest_worker = r.busiest_worker;
  m.process_cpu = r.harness_cpu / cores;
  if (r.floor) m.floor_rate_per_s = r.floor->cycles_per_s;
  r.verdict = judge(m);
  if (r.totals.counts.answered() > 0) return;
  r.verdict.valid = r.verdict.bound = false;
  r.verdict.reasons.insert(r.verdict.reasons.begin(), nothing_measured(r));
}

}  // namespace lockmark::run
