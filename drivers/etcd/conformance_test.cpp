// The suite for every lock on one topology, LOCKMARK_TOPOLOGY; each lock is a program of its own.
#include "drivers/conformance/conformance.hpp"

#include "deploy/local/cluster.hpp"
#include "deploy/local/versions.hpp"
#include "drivers/etcd/etcd.hpp"

int main(int argc, char** argv) {
  const auto servers =
      lockmark::local::cluster::start(lockmark::local::of_version_under_test(LOCKMARK_TOPOLOGY));
  const auto add_all = [&servers] {
    for (const lockmark::lock_kind& kind : lockmark::etcd::kinds()) {
      lockmark::conformance::subject s{.kind = kind, .target = servers.target()};
      // The servers' election timeout of 1 s allows leases of 2 s, and twice a second they look for
      // those that have ended. Longer ones outlive the stalls of a busy machine.
      s.session_timeout = std::chrono::seconds(4);
      s.session_grace = std::chrono::seconds(3);
      if (kind.name == "etcd/rw_read") s.writer = lockmark::etcd::rw();
      lockmark::conformance::add(s);
    }
  };
  return lockmark::conformance::run_tests(argc, argv, add_all);
}
