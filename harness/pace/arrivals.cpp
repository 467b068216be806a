#include "harness/pace/arrivals.hpp"

#include <algorithm>

namespace lockmark::pace {

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
    std::uint64_t n = 0;
    for (duration due = *plan.next(); due < until; due = *plan.next()) {
      auto random = random_of_arrival(job.seed, number_of(n++, its));
      const auto key = static_cast<std::uint32_t>(keys(random, 0));
      all.push_back({due, key, job.hold.sample(random)});
    }
  }
  std::ranges::stable_sort(all, {}, &arrival::due);
  return all;
}

}  // namespace lockmark::pace
