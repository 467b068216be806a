// Every Redis lock through the conformance suite, in every topology it is declared for, on real
// servers that are started for it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <deque>

#include "deploy/local/cluster.hpp"
#include "drivers/conformance/conformance.hpp"
#include "drivers/redis/redis.hpp"
#include "drivers/redis/server_probe.hpp"

namespace lockmark::redis {
namespace {

bool lists(std::string_view topologies, std::string_view one) {
  return fmt::format(" {} ", topologies).find(fmt::format(" {} ", one)) != std::string::npos;
}

// The lock as it is.
void add_plain(conformance::subject s) {
  const std::string_view name = s.kind.name;
  s.release_checks_owner = name != "redis/setnx" && name != "redis/setnx_expire";
  s.leftovers = keys_of_run;
  if (name == "redis/redlock") s.options["node_timeout"] = "500ms";
  conformance::add(s);
}

// Once more for each way that an option makes it another.
void add_variants(conformance::subject s) {
  const std::string_view name = s.kind.name;
  s.leftovers = keys_of_run;
  if (name == "redis/lua" || name == "redis/redisson") {
    s.label = "watchdog";
    s.options["watchdog"] = "true";
    s.renews_itself = true;
    conformance::add(s);
  }
  for (const char* way : {"del", "compare_then_del"}) {
    if (name != "redis/set_nx_px") continue;
    s.label = way;
    s.options["release"] = way;
    s.release_checks_owner = s.label != "del";
    conformance::add(s);
  }
}

// The masters and replicas, of which drivers learn from sentinels or from each other.
std::vector<std::string> hidden_servers(const local::cluster& running) {
  std::vector<std::string> all;
  for (const local::server_info& server : running.servers()) {
    if (server.name.starts_with("redis")) all.push_back(fmt::format("127.0.0.1:{}", server.port));
  }
  return all;
}

void add_all(const std::string& topology, const local::cluster& running) {
  for (const lock_kind& kind : kinds()) {
    if (!lists(kind.topologies, topology)) continue;
    conformance::subject s{.kind = kind, .target = running.target()};
    if (topology == "redis") {
      add_plain(s);
      add_variants(s);
      continue;
    }
    const bool tells_of_others = topology == "redis-sentinel" || topology == "redis-cluster";
    if (tells_of_others) s.hidden_servers = hidden_servers(running);
    s.label = topology.substr(std::string{"redis-"}.size());
    add_plain(s);
  }
}

}  // namespace
}  // namespace lockmark::redis

int main(int argc, char** argv) {
  using namespace lockmark;
  testing::InitGoogleTest(&argc, argv);
  std::deque<local::cluster> running;
  for (const char* topology : {"redis", "redis-sentinel", "redis-cluster", "redis-independent"}) {
    redis::add_all(topology, running.emplace_back(local::cluster::start(topology)));
  }
  return RUN_ALL_TESTS();
}
