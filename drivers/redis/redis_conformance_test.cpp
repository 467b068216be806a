// The conformance suite for every Redis lock of one topology, on real servers started for it. The
// build makes one program for each topology.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "deploy/local/cluster.hpp"
#include "deploy/local/versions.hpp"
#include "drivers/conformance/conformance.hpp"
#include "drivers/redis/redis.hpp"
#include "drivers/redis/server_probe.hpp"

namespace lockmark::redis {
namespace {

bool runs_on(const lock_kind& kind, std::string_view topology) {
  const std::string all = fmt::format(" {} ", kind.topologies);
  return all.find(fmt::format(" {} ", topology)) != all.npos;
}

// The masters and replicas that drivers learn of from sentinels or from each other.
std::vector<std::string> hidden_servers(const local::cluster& running) {
  std::vector<std::string> all;
  for (const local::server_info& server : running.servers()) {
    if (server.name.starts_with("redis")) all.push_back(fmt::format("127.0.0.1:{}", server.port));
  }
  return all;
}

// One by which all of them are found: the target of several Clusters names one node of each.
std::string where_keys_are(const local::cluster& running) {
  if (!running.target().starts_with("redis+clusters:")) return running.target();
  return fmt::format("redis+cluster://{}", fmt::join(hidden_servers(running), ","));
}

// Suites are named after the topology and the variant of the lock.
std::string label(const std::string& topology, const std::string& option) {
  const std::string on = topology == "redis" ? "" : topology.substr(6);
  return fmt::format("{}{}{}", on, on.empty() || option.empty() ? "" : ":", option);
}

void add(const lock_kind& kind, const std::string& topology, const local::cluster& running) {
  conformance::subject s{.kind = kind, .target = running.target()};
  if (topology == "redis-sentinel" || topology.starts_with("redis-cluster")) {
    s.hidden_servers = hidden_servers(running);
  }
  s.release_checks_owner = kind.name != "redis/setnx" && kind.name != "redis/setnx_expire";
  s.leftovers = [&running](const std::string&, const names& run) {
    return keys_of_run(where_keys_are(running), run);
  };
  s.label = label(topology, "");
  s.quorum = kind.name == "redis/redlock" || kind.name == "redis/redisson_red";
  if (kind.name == "redis/redisson_read") s.writer = redisson_write();
  // For a busy machine; the preset is for servers that are near and idle.
  if (kind.name == "redis/redlock") s.options["node_timeout"] = "500ms";
  conformance::add(s);
  for (const char* way : {"del", "compare_then_del"}) {
    if (kind.name != "redis/set_nx_px" || topology != "redis") continue;
    s.label = way;
    s.options["release"] = way;
    s.release_checks_owner = s.label != "del";
    conformance::add(s);
  }
  if (kind.name == "redis/lua" && topology == "redis") {
    s.label = "loaded";
    s.options["script"] = "loaded";
    s.first_request_takes = false;  // SCRIPT LOAD
    conformance::add(s);
    s.options.erase("script");
    s.first_request_takes = true;
  }
  const bool can_be_watched = kind.name == "redis/lua" || kind.name == "redis/redisson";
  if (!can_be_watched || topology == "redis-sentinel") return;
  s.label = label(topology, "watchdog");
  s.options["watchdog"] = "true";
  s.renews_itself = true;
  conformance::add(s);
}

}  // namespace
}  // namespace lockmark::redis

int main(int argc, char** argv) {
  using namespace lockmark;
  const std::string topology = LOCKMARK_TOPOLOGY;
  const auto servers = local::cluster::start(local::of_version_under_test(topology));
  return conformance::run_tests(argc, argv, [&] {
    for (const lock_kind& kind : redis::kinds()) {
      if (redis::runs_on(kind, topology)) redis::add(kind, topology, servers);
    }
  });
}
