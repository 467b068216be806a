// The suite for every lock on one topology, LOCKMARK_TOPOLOGY; each lock is a program of its own.
#include "drivers/conformance/conformance.hpp"

#include "deploy/local/cluster.hpp"
#include "deploy/local/versions.hpp"
#include "drivers/etcd/etcd.hpp"
#include "drivers/etcd/metrics_page.hpp"
#include "harness/async/scope.hpp"

namespace lockmark::etcd {
namespace {

task<void> add_elections(loop& l, const servers& where, double& all) {
  for (const config::host_port& member : where.hosts) {
    const metrics_page page =
        co_await fetch_metrics(l, where, member, l.now() + std::chrono::seconds(10));
    all += gauge_in(page.text, "etcd_server_leader_changes_seen_total").value_or(0);
  }
}

std::uint64_t elections(const std::string& target) {
  const real_clock clock;
  loop l{clock};
  const servers where = servers_at(target);
  double all = 0;
  run_to_end(l, add_elections(l, where, all));
  return static_cast<std::uint64_t>(all);
}

}  // namespace
}  // namespace lockmark::etcd

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
      s.elections = [&servers] { return lockmark::etcd::elections(servers.target()); };
      if (kind.name == "etcd/rw_read") s.writer = lockmark::etcd::rw();
      lockmark::conformance::add(s);
    }
  };
  return lockmark::conformance::run_tests(argc, argv, add_all);
}
