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

double ms(std::int64_t ns) {
  return static_cast<double>(ns) / 1e6;
}

// Why the harness was slow, in words.
std::vector<std::string> harness_limits(const self_measurement& m) {
  std::vector<std::string> limits;
  if (m.busiest_worker > most_busy_worker) {
    limits.push_back(fmt::format("a load thread used {:.0f} % of its core (limit {:.0f} %)",
                                 100 * m.busiest_worker, 100 * most_busy_worker));
  }
  if (m.process_cpu > most_process_cpu) {
    limits.push_back(fmt::format("the harness used {:.0f} % of its cores (limit {:.0f} %)",
                                 100 * m.process_cpu, 100 * most_process_cpu));
  }
  const double share_ns = tolerated_lag_share * static_cast<double>(m.reported_p99_ns);
  const auto lag_limit_ns = std::max(tolerated_lag_ns, static_cast<std::int64_t>(share_ns));
  if (m.timer_lag_p99_ns > lag_limit_ns) {
    limits.push_back(
        fmt::format("attempts began {:.2f} ms late at p99 although a client was free "
                    "(limit {:.2f} ms)",
                    ms(m.timer_lag_p99_ns), ms(lag_limit_ns)));
  }
  if (m.reported_p99_ns > 0 && m.hiccup_p999_ns > m.reported_p99_ns) {
    limits.push_back(
        fmt::format("idle threads were kept from running for {:.2f} ms at p99.9, "
                    "longer than the reported p99 of {:.2f} ms",
                    ms(m.hiccup_p999_ns), ms(m.reported_p99_ns)));
  }
  if (m.steal > most_steal) {
    limits.push_back(fmt::format("the hypervisor took {:.1f} % of the machine (limit {:.0f} %)",
                                 100 * m.steal, 100 * most_steal));
  }
  if (m.times_throttled > 0) {
    limits.push_back(fmt::format("the CPU quota stopped the harness {} times", m.times_throttled));
  }
  return limits;
}

// Defects that make the numbers of any loop wrong.
std::vector<std::string> defects(const self_measurement& m) {
  std::vector<std::string> found;
  if (m.debug_build) found.push_back("debug build");
  if (m.littles_law_fails) {
    found.push_back(
        fmt::format("clients in flight, sampled and by the stamps, differ by {:.1f} % "
                    "(Little's law)",
                    100 * m.littles_law_difference));
  }
  return found;
}

void judge_open_loop(const self_measurement& m, validity& v) {
  v.saturated = m.dropped > 0 || m.clients_all_busy;
  if (m.dropped > 0) {
    v.reasons.push_back(fmt::format("saturated: {} due attempts were dropped", m.dropped));
  }
  if (!v.saturated && m.achieved_per_s < least_achieved * m.offered_per_s - m.chance_per_s) {
    v.valid = false;
    v.reasons.push_back(
        fmt::format("{:.1f}/s were begun of {:.1f}/s offered although clients were "
                    "free",
                    m.achieved_per_s, m.offered_per_s));
  }
  if (m.floor_rate_per_s && m.offered_per_s > most_of_floor * *m.floor_rate_per_s) {
    v.valid = false;
    v.reasons.push_back(
        fmt::format("{:.0f}/s offered is more than half of the {:.0f}/s that the "
                    "harness does without a lock",
                    m.offered_per_s, *m.floor_rate_per_s));
  }
}

}  // namespace

validity judge(const self_measurement& m) {
  validity v;
  v.reasons = defects(m);
  v.valid = v.reasons.empty();
  const auto limits = harness_limits(m);
  v.reasons.insert(v.reasons.end(), limits.begin(), limits.end());
  if (m.closed_loop) {
    v.bound = !limits.empty();
  } else {
    if (!limits.empty()) v.valid = false;
    judge_open_loop(m, v);
  }
  return v;
}

}  // namespace lockmark::run
