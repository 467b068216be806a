// Checks which of a job's faults are possible here, with a sentence for those that are not.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "deploy/inject/local_injector.hpp"
#include "deploy/local/fail_over.hpp"
#include "deploy/local/roles.hpp"
#include "harness/base/errors.hpp"

namespace lockmark::inject {

using faults::fault_plan;

void local_injector::check(const fault_plan& plan) const {
  if (!plan.what->has_target()) return;
  if (faults::hits_participants(plan)) {
    check_participants(plan);
  } else {
    check_servers(plan);
    if (!plan.with.empty()) check_participants(plan);
  }
  if (uses_proxies(plan)) check_links(plan);
  if (faults::hits_one_link(plan)) check_link(plan);
}

// Whether cutting off a server also parts it from the other servers.
bool local_injector::partitions() const {
  return where_.between != nullptr && local::can_partition(where_.own->info().topology);
}

void local_injector::check_link(const fault_plan& plan) const {
  const auto ends = ends_of(plan);
  const bool dial = where_.between != nullptr && !where_.between->joining(ends[0], ends[1]).empty();
  if (dial) return;
  throw usage_error(
      "faults: {} and {} have no link that lockmark could cut; local servers of zookeeper-3, "
      "zookeeper-5, redis-sentinel, redis-cluster and mysql-replicated have",
      ends[0], ends[1]);
}

void local_injector::check_participants(const fault_plan& plan) const {
  const std::string& who = plan.with.empty() ? plan.who : plan.with;
  if (where_.participants == 0) {
    throw usage_error(
        "faults: {} needs participants that are processes of their own (participants: 2, say), and "
        "the job has none",
        faults::name_of(plan));
  }
  if (where_.in_programs && plan.what->on_client() == faults::client_effect::paused) {
    throw usage_error(
        "faults: {} would stop lockmark's participant and not the program that is its lock client, "
        "which would go on and renew its lease; kill, cut and stall reach it",
        faults::name_of(plan));
  }
  if (who.starts_with("participant ") && participant_in(who) >= where_.participants) {
    throw usage_error("faults: there is no {}; the job has {} of them", who, where_.participants);
  }
}

void local_injector::check_links(const fault_plan& plan) const {
  if (servers_.empty()) {
    throw usage_error("faults: {} needs servers that are reached by network",
                      faults::name_of(plan));
  }
  const auto target = config::parse_target(where_.url);
  if (!plan.on.empty() && target && target->tls.on) {
    throw usage_error("faults: on sees no request behind TLS");
  }
}

// Names in the order that "server 1", "server 2" refer to.
std::vector<std::string> local_injector::serving() const {
  std::vector<std::string> names;
  for (const known_server& s : servers_) {
    if (!s.name.starts_with("sentinel")) names.push_back(s.name);
  }
  return names;
}

void local_injector::check_servers(const fault_plan& plan) const {
  const std::string name = faults::name_of(plan);
  const std::string topology = where_.own == nullptr ? "" : where_.own->info().topology;
  const bool by_links = uses_proxies(plan);
  if (where_.own == nullptr && !by_links) {
    throw usage_error(
        "faults: {} needs servers that lockmark starts itself (--on local:NAME); for others say "
        "how: {{do: run, command: ..., undo: ...}}",
        name);
  }
  if (needs_of({plan}).promotion && !local::can_fail_over(topology)) {
    throw usage_error(
        "faults: fail_over is for redis-sentinel, redis-cluster, mysql-replicated and "
        "postgres-replicated, not for {}{}",
        topology,
        local::elects_leader(topology) ? ", whose servers elect a leader themselves: kill the "
                                         "leader"
                                       : ", which has one master only");
  }
  if (plan.who == "replication" && (plan.what->on_client() != faults::client_effect::cut_off ||
                                    !local::can_cut_replication(topology))) {
    throw usage_error(
        "faults: replication can only be cut, and only in redis-sentinel, redis-cluster, "
        "mysql-replicated and postgres-replicated");
  }
  if (plan.who.starts_with("server ") || faults::hits_one_link(plan)) {
    find_servers(plan);
  } else {
    check_role(plan, topology);
  }
  if (!plan.keeps_data && (topology.starts_with("mysql") || topology.starts_with("postgres"))) {
    throw usage_error(
        "faults: data: lost is not for MariaDB and PostgreSQL, which would have to be installed");
  }
}

void local_injector::check_role(const fault_plan& plan, std::string_view topology) const {
  const bool follows = plan.who == "replica" || plan.who == "replicas";
  const bool by_role = follows || plan.who == "master" || plan.who == "leader";
  if (by_role && where_.own == nullptr) {
    throw usage_error("faults: who is {} is known of local servers only; here are {}", plan.who,
                      fmt::join(serving(), ", "));
  }
  const bool replicated = local::can_cut_replication(topology) || local::elects_leader(topology);
  if (follows && !replicated) {
    throw usage_error("faults: {} has no replicas", topology);
  }
}

}  // namespace lockmark::inject
