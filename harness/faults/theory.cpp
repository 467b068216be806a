#include "harness/faults/theory.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/config/quantity.hpp"

namespace lockmark::faults {
namespace {

using namespace std::chrono_literals;
using config::print_duration;

constexpr duration early = 200ms;
constexpr duration late = 600ms;
// ZooKeeper ends sessions in ticks of this length (tickTime, by default and in local clusters).
constexpr duration zookeeper_tick = 2s;

// Where nothing tells the servers of a local ensemble that a link is broken, they give each other
// up after so long (syncLimit), and then elect within so long.
constexpr duration zookeeper_silence = 5s;
constexpr duration zookeeper_election = 1s;
constexpr duration local_tick = 500ms;

prediction session_ends(const config::job& job) {
  const duration t = job.session_timeout;
  return {t * 2 / 3, t + zookeeper_tick,
          fmt::format("the session timeout of {}, less up to a third since the last ping, plus up "
                      "to a tick",
                      print_duration(t))};
}

prediction lease_ends(const config::job& job, features lock, duration held) {
  const duration lease = job.lease;
  if (job.renew && lock.has(feature::renewable)) {
    return {lease * 2 / 3, lease,
            fmt::format("the lease of {}, less up to a third since the last renewal",
                        print_duration(lease))};
  }
  const duration left = std::max(duration::zero(), lease - held);
  return {left, left, fmt::format("the rest of the lease of {}", print_duration(lease))};
}

// Scenarios hold for a constant time; of another distribution only the least is sure.
duration usual_hold(const config::job& job) {
  return job.hold.kind == config::distribution::shape::constant ? job.hold.first : duration::zero();
}

// What it held is free again when the server has found out that its client is gone.
prediction client_gone(features lock, std::string_view backend, const config::job& job,
                       duration held) {
  if (lock.has(feature::session_bound)) {
    if (backend == "zookeeper") return session_ends(job);
    return {0s, 0s, "the server sees the connection end"};
  }
  if (lock.has(feature::lease)) return lease_ends(job, lock, held);
  return {0s, std::nullopt, "nobody gives it back: no lease, no session"};
}

// A paused client keeps its connections, so only time takes its lock away.
prediction client_silent(const config::fault_plan& plan, features lock, std::string_view backend,
                         const config::job& job, duration held) {
  const bool by_ping = lock.has(feature::session_bound) && backend == "zookeeper";
  const duration until_back = plan.lasts + std::max(duration::zero(), usual_hold(job) - held);
  prediction by_itself{0s, until_back, "the holder goes on when it is resumed"};
  if (!by_ping && !lock.has(feature::lease)) return by_itself;
  prediction taken = by_ping ? session_ends(job) : lease_ends(job, lock, held);
  if (taken.least > until_back) return by_itself;
  taken.most = std::min(*taken.most, std::max(until_back, taken.least));
  return taken;
}

bool parts_an_ensemble(const config::fault_plan& plan) {
  const bool breaks =
      plan.what == config::fault_kind::cut || plan.what == config::fault_kind::stall;
  return breaks && (plan.who == "leader" || plan.who == "minority");
}

// The majority grants again when it has a leader and the session of the last holder has ended
// there, if he is in the minority and cannot give back what he holds. A leader that is new gives
// every session its whole timeout again; in silence it is missed up to a tick early.
prediction parted(const config::fault_plan& plan, const config::job& job,
                  std::optional<duration> held) {
  const bool silent = plan.what == config::fault_kind::stall;
  const duration leaderless = zookeeper_election + (silent ? zookeeper_silence : 0s);
  prediction p = session_ends(job);
  p.most = *p.most + leaderless;
  p.why = fmt::format("{}, plus up to {} without a leader", p.why, print_duration(leaderless));
  if (plan.who == "leader") {
    p.least = job.session_timeout + (silent ? zookeeper_silence - local_tick : 0s);
    p.why = fmt::format(
        "the session timeout of {}, anew at a new leader, plus up to a tick, plus "
        "up to {} without a leader",
        print_duration(job.session_timeout), print_duration(leaderless));
  }
  const bool comes_back = plan.lasts < p.least;
  if (!held || comes_back) p.least = 0s;
  return p;
}

}  // namespace

std::optional<prediction> predict(const config::fault_plan& plan, features lock,
                                  std::string_view backend, const config::job& job,
                                  std::optional<duration> held) {
  if (backend == "zookeeper" && lock.has(feature::session_bound) && parts_an_ensemble(plan)) {
    return parted(plan, job, held);
  }
  const bool on_holder = plan.who == "holder" || plan.who.starts_with("participant");
  // In the middle of a protocol's step nobody knows what the server has of the lock.
  if (!on_holder || !plan.on.empty()) return std::nullopt;
  if (!held) return prediction{0s, 0s, "it held nothing"};
  switch (plan.what) {
    case config::fault_kind::kill: return client_gone(lock, backend, job, *held);
    case config::fault_kind::pause:
    case config::fault_kind::stall: return client_silent(plan, lock, backend, job, *held);
    default: return std::nullopt;
  }
}

bool agrees(const prediction& theory, std::optional<duration> recovery) {
  if (!recovery) return !theory.most;
  return *recovery >= theory.least - early && (!theory.most || *recovery <= *theory.most + late);
}

}  // namespace lockmark::faults
