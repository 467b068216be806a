// Every Redis lock through the conformance suite, on real servers that are started for it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "deploy/local/cluster.hpp"
#include "drivers/conformance/conformance.hpp"
#include "drivers/redis/redis.hpp"
#include "drivers/redis/server_probe.hpp"

namespace lockmark::redis {
namespace {

bool lists(std::string_view topologies, std::string_view one) {
  return fmt::format(" {} ", topologies).find(fmt::format(" {} ", one)) != std::string::npos;
}

// The lock as it is, and once more for each way that an option makes it another.
void add_variants(conformance::subject s) {
  const std::string_view name = s.kind.name;
  s.release_checks_owner = name != "redis/setnx" && name != "redis/setnx_expire";
  s.leftovers = keys_of_run;
  if (name == "redis/redlock") s.options["node_timeout"] = "500ms";
  conformance::add(s);
  if (name == "redis/lua" || name == "redis/redisson") {
    s.label += "watchdog";
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

}  // namespace
}  // namespace lockmark::redis

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const auto server = lockmark::local::cluster::start("redis");
  for (const lockmark::lock_kind& kind : lockmark::redis::kinds()) {
    if (!lockmark::redis::lists(kind.topologies, "redis")) continue;
    lockmark::redis::add_variants({.kind = kind, .target = server.target()});
  }
  return RUN_ALL_TESTS();
}
