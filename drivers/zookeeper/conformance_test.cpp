// The suite for every lock on one topology, LOCKMARK_TOPOLOGY; each lock is a program of its own.
//
// Running several cases at a time also keeps ensembles of ZooKeeper 3.6 to 3.8.0 busy. An idle one
// can leave the last write unanswered until another client writes (ZOOKEEPER-4537).
#include "drivers/conformance/conformance.hpp"

#include "deploy/local/cluster.hpp"
#include "deploy/local/versions.hpp"
#include "drivers/zookeeper/zookeeper.hpp"

int main(int argc, char** argv) {
  const auto servers =
      lockmark::local::cluster::start(lockmark::local::of_version_under_test(LOCKMARK_TOPOLOGY));
  const auto add_all = [&servers] {
    for (const lockmark::lock_kind& kind : lockmark::zookeeper::kinds()) {
      lockmark::conformance::subject s{.kind = kind, .target = servers.target()};
      // The servers' tick of 500 ms allows 1 s, and they check for dead sessions once per tick.
      // Three times as much outlives the stalls of a busy machine.
      s.session_timeout = std::chrono::seconds(3);
      s.session_grace = std::chrono::seconds(2);
      if (kind.name == "zookeeper/read") s.writer = lockmark::zookeeper::write();
      lockmark::conformance::add(s);
      if (std::string_view{LOCKMARK_TOPOLOGY} != "zookeeper") continue;
      if (kind.name == "zookeeper/sequential") {
        s.label = "exists";
        s.options["watch"] = "exists";
        lockmark::conformance::add(s);
      }
      if (kind.name == "zookeeper/write") {
        s.label = "downgraded";
        s.options["hold"] = "downgraded";
        lockmark::conformance::add(s);
      }
    }
  };
  constexpr int at_once = 2;  // beside up to five JVMs
  return lockmark::conformance::run_tests(argc, argv, add_all, at_once);
}
