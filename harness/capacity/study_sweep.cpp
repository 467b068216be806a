// The part of a study that varies clients, keys and holds.
#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "harness/capacity/observed.hpp"
#include "harness/capacity/study.hpp"

namespace lockmark::capacity {

void study::sweep() {
  if (!settings_.sweeps || settings_.clients.empty() || !found_.base) return;
  const std::vector<config::key_choice> keys =
      settings_.keys.empty() ? std::vector{job_.keys} : settings_.keys;
  const std::vector<config::distribution> holds =
      settings_.holds.empty() ? std::vector{job_.hold} : settings_.holds;
  for (const auto& k : keys) {
    for (const auto& h : holds) {
      const std::size_t first = found_.cells.size();
      for (std::uint64_t i = 0; i < settings_.repeats; ++i) {
        for (const std::uint64_t clients : settings_.clients) sweep_cell(clients, k, h);
      }
      if (k.kind != config::key_choice::shape::own) continue;
      scaling s{config::print_key_choice(k), config::print_distribution(h), {}, {}};
      std::vector<throughput> points;
      for (std::size_t i = first; i < found_.cells.size(); ++i) {
        const cell& c = found_.cells[i];
        points.push_back({static_cast<double>(c.clients), c.granted_per_s.value});
        s.runs.push_back(c.granted_per_s.runs.front());
      }
      s.found = find_usl(points, job_.seed);
      found_.scalings.push_back(std::move(s));
      grown_(found_);
    }
  }
}

void study::sweep_cell(std::uint64_t clients, const config::key_choice& keys,
                       const config::distribution& hold) {
  config::job closed = closed_job();
  closed.instances = std::gcd(clients, job_.instances);
  closed.clients = clients / closed.instances;
  closed.participants = std::min(closed.participants, closed.instances);
  closed.keys = keys;
  closed.hold = hold;
  cell c;
  c.clients = clients;
  c.keys = config::print_key_choice(keys);
  c.hold = config::print_distribution(hold);
  const std::string title = fmt::format("{} clients, keys {}, hold {}", clients, c.keys, c.hold);
  const observation o = run(closed, title);
  stats::histogram handoffs = o.transfer;
  handoffs.merge(o.self_reacquire);
  c.granted_per_s = granted_figure(o);
  c.hold_s = moments_of(o.hold).mean_s;
  c.handoff_s = moments_of(handoffs).mean_s;
  const auto equal = equal_keys(keys, clients);
  if (equal && !found_.what.optimistic && c.hold_s + c.handoff_s > 0) {
    // With idle keys, hand-offs measure how long nobody wanted them.
    const auto all = static_cast<double>(clients);
    const bool idle_keys = all < *equal;
    const double between_holds = idle_keys ? found_.base->lone_wait.value : c.handoff_s;
    c.bound_per_s = std::min(all, *equal) / (c.hold_s + between_holds);
    if (all > *equal) c.open = random_arrivals(closed, *equal, o);
  }
  found_.cells.push_back(std::move(c));
  grown_(found_);
}

// The same lock at 70 % of its bound, with random arrivals, as M/G/1 assumes. The lock then goes
// from owner to owner, so the hand-off is that of the run before the search.
std::optional<comparison> study::random_arrivals(const config::job& closed, double keys,
                                                 const observation& of) {
  constexpr double usual_share = 0.7;
  const moments hold = moments_of(of.hold);
  const basics& base = *found_.base;
  const service_time service{
      hold.mean_s + base.handoff.value,
      hold.second_s2 + 2 * hold.mean_s * base.handoff.value + base.handoff_second_moment_s2};
  const double rate = rounded(usual_share * keys * most_grants_per_s(service));
  config::job job = open_job(closed, rate, settings_.cell);
  job.loop = config::loop_kind::poisson;
  const observation o =
      run(job, fmt::format("{} clients at {:.4g}/s", closed.clients_in_all(), rate));
  auto result = predict_beside(service, base.lone_wait.value, o.granted_per_s / keys, o.quantiles);
  if (!result) return std::nullopt;
  result->rate_per_s = rate;
  result->measured_mean_s = bound_mean_wait_s(o.against, doubt_shown);
  result->run = o.run;
  return result;
}

}  // namespace lockmark::capacity
