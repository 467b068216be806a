// Runs of a simulated lock, for tests of studies: M/D/1 for open loops, saturated for closed ones.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "harness/capacity/study.hpp"
#include "harness/stats/random.hpp"

namespace lockmark::capacity {

inline constexpr double hold_s = 0.004;
inline constexpr double handoff_s = 0.001;
inline constexpr double lone_s = 0.0005;

// Its arrivals come from the job's seed, as those of real runs do.
struct simulated_runs {
  stats::random_source random{0};
  std::vector<std::uint64_t> seeds;
  int runs = 0;
  double lone_s = capacity::lone_s;
  double polls = 1;  // of each grant on a key that others want

  observation run(const config::job& job, const std::vector<objective>& objectives) {
    observation o;
    o.run = fmt::format("run-{}", ++runs);
    random = stats::random_source{job.seed};
    seeds.push_back(job.seed);
    for (int i = 0; i < 1000; ++i) {
      o.hold.record(static_cast<std::int64_t>(hold_s * 1e9));
      o.release.record(200'000);
      o.loop_lag.record(50'000);
      (job.clients_in_all() > 1 ? o.transfer : o.self_reacquire)
          .record(static_cast<std::int64_t>(handoff_s * 1e9));
      if (job.renew) o.renewal.record(2'000'000);
    }
    const bool own_keys = job.keys.kind == config::key_choice::shape::own;
    o.commands_per_grant = own_keys ? 2 : 2 * polls;
    const double length_s = std::chrono::duration<double>(job.stop_duration).count();
    const bool open = job.arrives_by_rate();
    const double rate = open ? job.rate->per_second() : own_keys ? 5000 : 1 / (hold_s + handoff_s);
    arrive(o, rate, length_s, open, objectives);
    o.granted_per_s = rate;
    return o;
  }

 private:
  void arrive(observation& o, double rate, double length_s, bool open,
              const std::vector<objective>& objectives) {
    constexpr double part_s = 0.5;
    const auto parts = static_cast<std::size_t>(length_s / part_s);
    for (std::size_t k = 0; k < objectives.size(); ++k) {
      o.against.push_back({std::vector<stretch>(parts), part_s});
    }
    stats::histogram all;
    double work_s = 0;
    for (double t = 0, gap = 0; t < length_s; t += gap = random.exponential(1 / rate)) {
      work_s = open ? std::max(0.0, work_s - gap) : 0;
      const double wait_s = std::max(work_s, lone_s);
      work_s += hold_s + handoff_s;
      all.record(static_cast<std::int64_t>(wait_s * 1e9));
      const auto part = std::min(parts - 1, static_cast<std::size_t>(t / part_s));
      for (std::size_t k = 0; k < objectives.size(); ++k) {
        stretch& s = o.against[k].parts[part];
        ++s.attempts;
        s.late += wait_s * 1e9 > static_cast<double>(objectives[k].limit_ns) ? 1 : 0;
        s.waiting += wait_s / part_s;
      }
    }
    std::vector<double> quantiles;
    for (const objective& goal : objectives) quantiles.push_back(goal.quantile);
    quantiles.push_back(0.999);
    o.quantiles = stats::estimate_quantiles({all, 0, 0}, {}, quantiles, 1);
  }
};

inline config::job open_job() {
  return config::parse_job(
      "lock: memory/lock\nload: {loop: poisson, rate: 100/s, instances: 4, clients: 16}\n"
      "keys: one\nhold: 4ms\nwait: 5s\nstop: {duration: 5s}\n",
      "test");
}

inline settings usual(const char* slo) {
  settings s;
  s.objectives = {*parse_objective(slo)};
  s.probe = std::chrono::seconds{30};
  s.probe_at_most = std::chrono::minutes{5};
  s.cell = std::chrono::seconds{10};
  s.clients = {1, 8};
  return s;
}

}  // namespace lockmark::capacity
