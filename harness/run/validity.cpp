#include "harness/run/validity.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace lockmark::run {
namespace {

// Proposals, not norms: chosen so that a run on an idle machine passes all of them.
constexpr double most_busy_worker = 0.8;
constexpr double most_process_cpu = 0.8;
constexpr double most_steal = 0.02;
constexpr double least_achieved = 0.99;
constexpr double most_of_floor = 0.5;
constexpr std::int64_t tolerated_lag_ns = 200'000;
constexpr double tolerated_lag_share = 0.05;
// A machine on which something waits for a core so often is short of them.
constexpr double much_waiting = 0.1;
// A p99 is made by one attempt in a hundred.
constexpr double most_frozen = 0.01;
// What waits for a client's process to read it counts as the pipe, whether the machine or the
// client is late. Below 1 ms it is the switches between two processes.
constexpr std::int64_t tolerated_pipe_ns = 1'000'000;
constexpr double tolerated_pipe_share = 0.5;
// The throughput may then be more than twice what was measured.
constexpr double most_frozen_of_a_bound = 0.5;

std::string percent(double share, int decimals = 0) {
  return fmt::format("{:.{}f}", 100 * share, decimals);
}

std::string in_ms(std::int64_t ns) {
  return fmt::format("{:.2f}", static_cast<double>(ns) / 1e6);
}

std::string in_s(std::int64_t ns) {
  return fmt::format("{:.2f}", static_cast<double>(ns) / 1e9);
}

// Whether freezes could have changed the throughput by more than 1 %, or the p99.
bool frozen_too_long(const self_measurement& m) {
  const freezing& f = m.frozen;
  if (f.share > most_frozen || f.worst_share > most_frozen_of_a_bound) return true;
  const double shown_ns = tolerated_lag_share * static_cast<double>(m.reported_p99_ns);
  return m.closed_loop && f.attempts > most_frozen * static_cast<double>(m.attempts) &&
         static_cast<double>(f.longest_ns) > shown_ns;
}

// Not even a bound is left.
bool frozen_for_good(const self_measurement& m) {
  return m.frozen.worst_share > most_frozen_of_a_bound || m.frozen.suspended_ns > 0;
}

// Why the harness was slow.
std::vector<message> harness_limits(const self_measurement& m) {
  std::vector<message> limits;
  const auto add = [&limits](const char* id, std::vector<std::string> values) {
    limits.emplace_back(id, std::move(values));
  };
  if (m.frozen.suspended_ns > 0) {
    add("machine_suspended", {in_s(m.frozen.suspended_ns), in_s(m.frozen.suspended_at_ns)});
  }
  if (frozen_too_long(m)) limits.push_back(m.frozen.sentence);
  if (m.busiest_worker > most_busy_worker) {
    add("busy_worker", {percent(m.busiest_worker), percent(most_busy_worker)});
  }
  if (m.busy_proxies > most_busy_worker) {
    add("busy_proxies", {percent(m.busy_proxies), percent(most_busy_worker)});
  }
  if (m.process_cpu > most_process_cpu) {
    add("busy_harness", {percent(m.process_cpu), percent(most_process_cpu)});
  }
  const double share_ns = tolerated_lag_share * static_cast<double>(m.reported_p99_ns);
  const auto lag_limit_ns = std::max(tolerated_lag_ns, static_cast<std::int64_t>(share_ns));
  if (m.timer_lag_p99_ns > lag_limit_ns) {
    add("late_attempts", {in_ms(m.timer_lag_p99_ns), in_ms(lag_limit_ns)});
  }
  if (m.reported_p99_ns > 0 && m.hiccup_p999_ns > m.reported_p99_ns) {
    add("hiccups", {in_ms(m.hiccup_p999_ns), in_ms(m.reported_p99_ns)});
  }
  // Arrivals at a rate meet a stall all the time that it lasts; a client of a closed loop, once.
  if (!m.closed_loop && m.reported_p99_ns > 0 && m.hiccup_p99_of_time_ns > m.reported_p99_ns) {
    add("hiccups_of_time", {in_ms(m.hiccup_p99_of_time_ns), in_ms(m.reported_p99_ns)});
  }
  if (m.pipe_unknown) add("pipe_unknown", {});
  if (m.steal > most_steal) add("steal", {percent(m.steal, 1), percent(most_steal)});
  if (m.times_throttled > 0) add("throttled", {fmt::format("{}", m.times_throttled)});
  return limits;
}

// What the delays come from, if others want the cores: names no limit of its own, because a busy
// machine that lets the harness run in time spoils nothing.
std::optional<message> why_late(const self_measurement& m, const std::vector<message>& limits) {
  const bool late = std::ranges::any_of(limits, [&](const message& l) {
    return l.id == "late_attempts" || l.id.starts_with("hiccups") || l == m.frozen.sentence;
  });
  if (!late || m.cpu_waiting.value_or(0) < much_waiting) return std::nullopt;
  return message{"cpu_waiting", {percent(*m.cpu_waiting)}};
}

// The pipe that was taken out is so long that what is left is an estimate, too low by as much as
// the client was late to read. No bound: a slow pipe raises no response, and a late client does.
std::optional<message> long_pipe(const self_measurement& m) {
  const auto judged = [](const char* quantile, std::int64_t pipe_ns,
                         std::int64_t response_ns) -> std::optional<message> {
    const double share_ns = tolerated_pipe_share * static_cast<double>(response_ns);
    const auto limit_ns = std::max(tolerated_pipe_ns, static_cast<std::int64_t>(share_ns));
    if (pipe_ns <= limit_ns) return std::nullopt;
    return message{"long_pipe", {in_ms(pipe_ns), quantile, in_ms(limit_ns), in_ms(response_ns)}};
  };
  if (auto found = judged("p50", m.pipe_p50_ns, m.reported_p50_ns)) return found;
  return judged("p99", m.pipe_p99_ns, m.reported_p99_ns);
}

// Defects that make the numbers of any loop wrong.
std::vector<message> defects(const self_measurement& m) {
  std::vector<message> found;
  if (m.debug_build) found.push_back({"debug_build", {}});
  if (m.late_hosts) found.push_back(*m.late_hosts);
  if (m.littles_law_fails) found.push_back({"littles_law", {percent(m.littles_law_difference, 1)}});
  if (auto pipe = long_pipe(m)) found.push_back(std::move(*pipe));
  return found;
}

void judge_open_loop(const self_measurement& m, validity& v) {
  v.saturated = m.dropped > 0 || m.clients_all_busy;
  if (m.dropped > 0) v.reasons.push_back({"dropped", {fmt::format("{}", m.dropped)}});
  if (!v.saturated && m.achieved_per_s < least_achieved * m.offered_per_s - m.chance_per_s) {
    v.valid = false;
    v.reasons.push_back(
        {"too_few_begun",
         {fmt::format("{:.1f}", m.achieved_per_s), fmt::format("{:.1f}", m.offered_per_s)}});
  }
  if (m.floor_rate_per_s && m.offered_per_s > most_of_floor * *m.floor_rate_per_s) {
    v.valid = false;
    v.reasons.push_back(
        {"near_floor",
         {fmt::format("{:.0f}", m.offered_per_s), fmt::format("{:.0f}", *m.floor_rate_per_s)}});
  }
}

}  // namespace

validity judge(const self_measurement& m) {
  validity v;
  v.reasons = defects(m);
  v.valid = v.reasons.empty() && !frozen_for_good(m);
  const auto limits = harness_limits(m);
  v.reasons.insert(v.reasons.end(), limits.begin(), limits.end());
  if (auto why = why_late(m, limits)) v.reasons.push_back(std::move(*why));
  if (m.closed_loop) {
    v.bound = !limits.empty();
  } else {
    if (!limits.empty()) v.valid = false;
    judge_open_loop(m, v);
  }
  return v;
}

}  // namespace lockmark::run
