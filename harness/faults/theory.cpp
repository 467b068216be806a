#include "harness/faults/theory.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/config/quantity.hpp"
#include "harness/faults/kind.hpp"

namespace lockmark::faults {
namespace {

using namespace std::chrono_literals;
using config::print_duration;

constexpr duration early = 200ms;
constexpr duration late = 600ms;
// In which the servers of an ensemble elect a leader once they have given up the last one.
constexpr duration ensemble_election = 1s;

duration timeout_of(const config::job& job, const session_settings& servers) {
  return std::min(std::max(job.session_timeout, servers.least), servers.most);
}

prediction session_ends(const config::job& job, const session_settings& servers) {
  const duration t = timeout_of(job, servers);
  return {t * 2 / 3, t + servers.tick,
          fmt::format("the session timeout of {}, less up to a third since the last ping, plus up "
                      "to a tick of {}",
                      print_duration(t), print_duration(servers.tick))};
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

// Scenarios hold for a constant time; of any other distribution only the minimum is certain.
duration usual_hold(const config::job& job) {
  return job.hold.kind == config::distribution::shape::constant ? job.hold.first : duration::zero();
}

std::string option_of(const config::job& job, const std::string& name) {
  const auto given = job.options.find(name);
  return given == job.options.end() ? "" : given->second;
}

// The age at which a sweeper deletes rows of the lock.
std::optional<duration> sweep_of(const config::job& job) {
  const auto age = config::parse_duration(option_of(job, "sweep"));
  return age ? std::optional{*age} : std::nullopt;
}

// The sweeper runs four times per `age`, and at least once a second (drivers/mysql/sweeper.cpp).
prediction swept(duration age, duration held) {
  const duration left = std::max(duration::zero(), age - held);
  return {left, left + std::min<duration>(age / 4, 1s),
          fmt::format("the sweeper comes after rows older than {}", print_duration(age))};
}

// True if the holder of one key blocks no other client: each has its own key, and the lock does not
// lock all rows for want of an index.
bool concerns_nobody_else(const config::job& job) {
  return job.keys.kind == config::key_choice::shape::own && option_of(job, "indexed") != "false";
}

// The lock is free again when the server has noticed that its client is gone.
prediction client_gone(features lock, const config::job& job, duration held,
                       const session_settings& servers) {
  if (lock.has(feature::session_bound)) {
    if (lock.has(feature::session_timeout)) return session_ends(job, servers);
    return {0s, 0s, "the server sees the connection end"};
  }
  if (lock.has(feature::lease)) return lease_ends(job, lock, held);
  if (const auto age = sweep_of(job)) return swept(*age, held);
  return {0s, std::nullopt, "nobody gives it back: no lease, no session"};
}

// The client works on, and releases its lock if it reaches the server again by then. Nothing if the
// release fell into the cut and nothing else is certain to have freed the lock.
std::optional<prediction> client_cut_off(const fault_plan& plan, features lock,
                                         const config::job& job, duration held,
                                         const session_settings& servers) {
  const bool by_ping = lock.has(feature::session_timeout);
  if (lock.has(feature::session_bound) && !by_ping) return client_gone(lock, job, held, servers);
  const duration rest = std::max(duration::zero(), usual_hold(job) - held);
  const bool ends = lock.has(feature::session_bound) || lock.has(feature::lease);
  std::optional<prediction> taken;
  if (ends) taken = client_gone(lock, job, held, servers);
  const bool back_in_time = rest > plan.lasts;
  if (back_in_time && (!taken || *taken->most >= rest)) {
    return prediction{rest, rest, "the holder has reached the server again and gives it back"};
  }
  if (by_ping && plan.lasts < timeout_of(job, servers)) return std::nullopt;
  if (!by_ping && taken && *taken->most > plan.lasts) return std::nullopt;
  return taken;
}

// A paused client keeps its connections, so only time takes its lock away.
prediction client_silent(const fault_plan& plan, features lock, const config::job& job,
                         duration held, const session_settings& servers) {
  const bool by_ping = lock.has(feature::session_timeout);
  const duration until_back = plan.lasts + std::max(duration::zero(), usual_hold(job) - held);
  // Its timers may have run on meanwhile.
  const duration soonest = std::max(plan.lasts, until_back - plan.lasts);
  prediction by_itself{soonest, until_back, "the holder goes on when it is resumed"};
  const auto age = sweep_of(job);
  if (!by_ping && !lock.has(feature::lease) && !age) return by_itself;
  prediction taken = by_ping                    ? session_ends(job, servers)
                     : lock.has(feature::lease) ? lease_ends(job, lock, held)
                                                : swept(*age, held);
  if (taken.least > until_back) return by_itself;
  taken.most = std::min(*taken.most, std::max(until_back, taken.least));
  return taken;
}

bool parts_an_ensemble(const fault_plan& plan) {
  const client_effect effect = plan.what->on_client();
  const bool breaks = effect == client_effect::cut_off || effect == client_effect::stalled;
  return breaks && (plan.who == "leader" || plan.who == "minority");
}

// The majority grants again when it has a leader and the last holder's session has ended there;
// that session matters if the holder is in the minority and cannot release. A new leader gives
// every session its full timeout again; a silent break is noticed up to a tick early.
prediction parted(const fault_plan& plan, const config::job& job, std::optional<duration> held,
                  const session_settings& servers) {
  const bool silent = plan.what->on_client() == client_effect::stalled;
  const duration leaderless = ensemble_election + (silent ? servers.silence : 0s);
  prediction p = session_ends(job, servers);
  p.most = *p.most + leaderless;
  p.why = fmt::format("{}, plus up to {} without a leader", p.why, print_duration(leaderless));
  if (plan.who == "leader") {
    p.least = timeout_of(job, servers) + (silent ? servers.silence - servers.tick : 0s);
    p.why = fmt::format(
        "the session timeout of {}, anew at a new leader, plus up to a tick, plus "
        "up to {} without a leader",
        print_duration(timeout_of(job, servers)), print_duration(leaderless));
  }
  const bool comes_back = plan.lasts < p.least;
  if (!held || comes_back) p.least = 0s;
  return p;
}

}  // namespace

session_settings session_settings_of(const description& server) {
  session_settings s;
  const auto read = [&server](std::string_view name, duration& into) {
    const auto told = std::ranges::find(server, name, &description::value_type::first);
    if (told == server.end()) return;
    const auto value = config::parse_duration(told->second);
    if (value) into = *value;
  };
  read("server.session_tick", s.tick);
  read("server.session_timeout_min", s.least);
  read("server.session_timeout_max", s.most);
  read("server.silence", s.silence);
  return s;
}

std::optional<prediction> predict(const fault_plan& plan, features lock, const config::job& job,
                                  std::optional<duration> held, const session_settings& servers) {
  if (lock.has(feature::session_timeout) && parts_an_ensemble(plan)) {
    return parted(plan, job, held, servers);
  }
  const bool on_holder = plan.who == "holder" || plan.who.starts_with("participant");
  // In the middle of a protocol step the server's state of the lock is unknown.
  if (!on_holder || !plan.on.empty()) return std::nullopt;
  if (!held) return prediction{0s, 0s, "it held nothing"};
  if (concerns_nobody_else(job)) {
    return prediction{0s, usual_hold(job), "the others hold keys of their own"};
  }
  switch (plan.what->on_client()) {
    case client_effect::gone: return client_gone(lock, job, *held, servers);
    case client_effect::paused:
    case client_effect::stalled: return client_silent(plan, lock, job, *held, servers);
    case client_effect::cut_off: return client_cut_off(plan, lock, job, *held, servers);
    case client_effect::none: break;
  }
  return std::nullopt;
}

bool agrees(const prediction& theory, std::optional<duration> recovery) {
  if (!recovery) return !theory.most;
  return *recovery >= theory.least - early && (!theory.most || *recovery <= *theory.most + late);
}

std::optional<bool> agrees(const prediction& theory, std::optional<duration> recovery,
                           duration observed) {
  if (!recovery && theory.most && observed <= *theory.most + late) return std::nullopt;
  return agrees(theory, recovery);
}

}  // namespace lockmark::faults
