#include "harness/pace/schedule.hpp"

#include <algorithm>
#include <cmath>

namespace lockmark::pace {
namespace {

std::mt19937_64 seeded(std::uint64_t seed, std::uint32_t worker) {
  std::seed_seq mixed{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32),
                      worker};
  return std::mt19937_64{mixed};
}

}  // namespace

duration constant_offset(config::rate rate, std::uint64_t index) {
  using wide = unsigned __int128;
  const wide ns = wide{index} * static_cast<std::uint64_t>(rate.per.count()) /
                  static_cast<std::uint64_t>(rate.events);
  constexpr auto latest = static_cast<std::uint64_t>(duration::max().count());
  return duration{static_cast<std::int64_t>(std::min<wide>(ns, latest))};
}

schedule schedule::closed() {
  return schedule{no_arrivals{}};
}

schedule schedule::constant(config::rate total, share mine) {
  return schedule{constant_arrivals{total, mine.worker, mine.workers}};
}

schedule schedule::poisson(config::rate total, share mine, std::uint64_t seed) {
  const double mean_gap_ns = 1e9 / total.per_second() * mine.workers;
  return schedule{poisson_arrivals{mean_gap_ns, 0.0, seeded(seed, mine.worker)}};
}

std::optional<duration> schedule::next() {
  if (auto* constant = std::get_if<constant_arrivals>(&plan_)) return constant->next();
  if (auto* poisson = std::get_if<poisson_arrivals>(&plan_)) return poisson->next();
  return std::nullopt;
}

duration schedule::constant_arrivals::next() {
  const duration due = constant_offset(total, index);
  index += stride;
  return due;
}

duration schedule::poisson_arrivals::next() {
  const double uniform = static_cast<double>(random() >> 11) * 0x1.0p-53;  // in [0, 1)
  offset_ns -= mean_gap_ns * std::log1p(-uniform);
  constexpr double latest = 9.2e18;  // just under what a duration holds
  return duration{static_cast<std::int64_t>(std::min(offset_ns, latest))};
}

schedule schedule_of(const config::job& job, share mine) {
  return job.loop == config::loop_kind::open ? schedule::constant(*job.rate, mine)
                                             : schedule::poisson(*job.rate, mine, job.seed);
}

std::vector<arrival> arrivals_of(const config::job& job, std::uint32_t workers, duration until) {
  const config::key_sampler keys{job.keys, job.clients_in_all()};
  std::vector<arrival> all;
  for (std::uint32_t w = 0; w < workers; ++w) {
    const share its{w, workers};
    schedule plan = schedule_of(job, its);
    const auto others = static_cast<std::ptrdiff_t>(all.size());
    std::uint64_t n = 0;
    for (duration due = *plan.next(); due < until; due = *plan.next()) {
      auto random = random_of_arrival(job.seed, number_of(n++, its));
      const auto key = static_cast<std::uint32_t>(keys(random, 0));
      all.push_back({due, key, job.hold.sample(random)});
    }
    std::ranges::inplace_merge(all, all.begin() + others, {}, &arrival::due);
  }
  return all;
}

}  // namespace lockmark::pace
