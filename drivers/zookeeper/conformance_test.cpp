// The suite for every lock on one topology, LOCKMARK_TOPOLOGY: each is a program of its own.
//
// Several cases at a time also keep ensembles of ZooKeeper 3.6 to 3.8.0 going, which can leave the
// last write of all unanswered until somebody else writes (ZOOKEEPER-4537).
#include "drivers/conformance/conformance.hpp"

#include "deploy/local/cluster.hpp"
#include "drivers/conformance/parallel.hpp"
#include "drivers/zookeeper/zookeeper.hpp"

int main(int argc, char** argv) {
  const auto servers = lockmark::local::cluster::start(LOCKMARK_TOPOLOGY);
  const auto add_all = [&servers] {
    for (const lockmark::lock_kind& kind : lockmark::zookeeper::kinds()) {
      lockmark::conformance::subject s{.kind = kind, .target = servers.target()};
      // The servers would grant 1 s with their tick of 500 ms, in steps of which they look for dead
      // sessions; three times as much outlives the stalls of a busy machine.
      s.session_timeout = std::chrono::seconds(3);
      s.session_grace = std::chrono::seconds(2);
      if (kind.name == "zookeeper/read") s.writer = lockmark::zookeeper::write();
      lockmark::conformance::add(s);
    }
  };
  constexpr int at_once = 2;  // beside up to five JVMs
  return lockmark::conformance::run_tests(argc, argv, add_all, at_once);
}
