// The suite for every lock on one topology, LOCKMARK_TOPOLOGY. Each topology is a program of its
// own, because cases that wait for sessions to expire can wait side by side.
#include "drivers/conformance/conformance.hpp"

#include <gtest/gtest.h>

#include "deploy/local/cluster.hpp"
#include "drivers/zookeeper/zookeeper.hpp"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const auto servers = lockmark::local::cluster::start(LOCKMARK_TOPOLOGY);
  for (const lockmark::lock_kind& kind : lockmark::zookeeper::kinds()) {
    lockmark::conformance::subject s{.kind = kind, .target = servers.target()};
    // The shortest that the servers grant with their tick of 500 ms, in steps of which they look
    // for dead sessions.
    s.session_timeout = std::chrono::milliseconds(1500);
    s.session_grace = std::chrono::seconds(2);
    s.tolerance = std::chrono::seconds(2);  // several JVMs share the machine
    if (kind.name == "zookeeper/read") s.writer = lockmark::zookeeper::write();
    lockmark::conformance::add(s);
  }
  return RUN_ALL_TESTS();
}
