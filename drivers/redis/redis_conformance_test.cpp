// Every Redis lock through the conformance suite, on a real server that is started for it.
#include <gtest/gtest.h>

#include "deploy/local/cluster.hpp"
#include "drivers/conformance/conformance.hpp"
#include "drivers/redis/redis.hpp"
#include "drivers/redis/server_probe.hpp"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const auto server = lockmark::local::cluster::start("redis");
  for (const lockmark::lock_kind& kind : lockmark::redis::kinds()) {
    lockmark::conformance::subject s{.kind = kind, .target = server.target()};
    s.release_checks_owner = kind.name != "redis/setnx";
    s.leftovers = lockmark::redis::keys_of_run;
    lockmark::conformance::add(s);
    for (const char* way : {"del", "compare_then_del"}) {
      if (kind.name != "redis/set_nx_px") continue;
      s.label = way;
      s.options["release"] = way;
      s.release_checks_owner = s.label != "del";
      lockmark::conformance::add(s);
    }
  }
  return RUN_ALL_TESTS();
}
