// Polling, herds, row locks and optimism.
#include <fmt/format.h>

#include "harness/claims/verdicts.hpp"

namespace lockmark::claims {
namespace {

judgement polling_is_worse(const evidence& e) {
  const judgement cost = falls(e, {"polling, many", "polling, few"},
                               "/cost_per_acquire/client_commands_per_grant", unit::plain);
  const auto few = e.of("waiting, few", "/cost_per_acquire/client_commands_per_grant");
  const auto many = e.of("waiting, many", "/cost_per_acquire/client_commands_per_grant");
  if (!few) return missing("waiting, few");
  if (!many) return missing("waiting, many");
  const bool steady = many->median() < 1.5 * few->median();
  const judgement waiting{steady ? answer::confirmed : answer::refuted,
                          fmt::format("waiting, many {}, waiting, few {} commands per grant",
                                      show(*many, unit::plain), show(*few, unit::plain))};
  return both(cost, waiting);
}

judgement herd(const evidence& e) {
  const std::string woken = "/cost_per_acquire/wakeups_per_grant";
  const auto all = e.of("zookeeper/ephemeral", woken);
  const auto one = e.of("zookeeper/sequential", woken);
  if (!all) return missing("zookeeper/ephemeral");
  if (!one) return missing("zookeeper/sequential");
  const bool as_said = all->least() > 10 && one->most() < 2;
  return {as_said ? answer::confirmed : answer::refuted,
          fmt::format("clients woken per grant, of 100: ephemeral {}, sequential {}",
                      show(*all, unit::plain), show(*one, unit::plain))};
}

judgement locks_the_table(const evidence& e) {
  return falls(e, {"indexed", "not indexed"}, "/tps", unit::per_second);
}

judgement conflicts_grow(const evidence& e) {
  return falls(e, {"64 clients", "16 clients", "4 clients"},
               "/cost_per_acquire/client_commands_per_grant", unit::plain);
}

std::vector<std::string> clients(int instances, int each) {
  return {fmt::format("load.instances={}", instances), fmt::format("load.clients={}", each)};
}

}  // namespace

std::vector<claim> claims_on_contention() {
  return {
      {"9a",
       "Polling makes contention worse; waiting for a notification does not",
       "From 4 to 64 clients on one key held for 5 ms, the commands that a grant costs grow for "
       "redis/lua, and by less than half for mysql/get_lock, whose server keeps the queue.",
       {{"polling, few",
         "contended",
         "redis",
         "redis/lua",
         {"hold=5ms", "load.instances=2", "load.clients=2"},
         ""},
        {"polling, many",
         "contended",
         "redis",
         "redis/lua",
         {"hold=5ms", "load.instances=8", "load.clients=8"},
         ""},
        {"waiting, few",
         "contended",
         "mysql",
         "mysql/get_lock",
         {"hold=5ms", "load.instances=2", "load.clients=2"},
         ""},
        {"waiting, many",
         "contended",
         "mysql",
         "mysql/get_lock",
         {"hold=5ms", "load.instances=8", "load.clients=8"},
         ""}},
       polling_is_worse},
      {"9b",
       "An ephemeral node without sequence wakes everybody, a sequence wakes one",
       "100 clients on one key: a release wakes tens of clients of zookeeper/ephemeral, and one of "
       "zookeeper/sequential.",
       {{"zookeeper/ephemeral", "herd", "zookeeper", "zookeeper/ephemeral", {}, ""},
        {"zookeeper/sequential", "herd", "zookeeper", "zookeeper/sequential", {}, ""}},
       herd},
      {"10a",
       "SELECT FOR UPDATE can lock the whole table (no index on the column)",
       "16 clients on a key each, held for 5 ms: far fewer grants where the column has no index.",
       {{"indexed", "uncontended", "mysql", "mysql/for_update", {"hold=5ms"}, ""},
        {"not indexed",
         "uncontended",
         "mysql",
         "mysql/for_update",
         {"hold=5ms", "options.indexed=false"},
         ""}},
       locks_the_table},
      {"10b",
       "Optimistic locking is no lock under concurrency: conflicts grow with it",
       "The commands that a commit of mysql/optimistic_version costs grow from 4 to 16 to 64 "
       "clients of one row.",
       {{"4 clients", "contended", "mysql", "mysql/optimistic_version", clients(2, 2), ""},
        {"16 clients", "contended", "mysql", "mysql/optimistic_version", clients(4, 4), ""},
        {"64 clients", "contended", "mysql", "mysql/optimistic_version", clients(8, 8), ""}},
       conflicts_grow},
  };
}

}  // namespace lockmark::claims
