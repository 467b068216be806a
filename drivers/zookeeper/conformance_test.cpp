// The suite for every lock on one topology, LOCKMARK_TOPOLOGY; each lock is a program of its own.
//
// Running several cases at a time also keeps ensembles of ZooKeeper 3.6 to 3.8.0 busy. An idle one
// can leave the last write unanswered until another client writes (ZOOKEEPER-4537).
#include "drivers/conformance/conformance.hpp"

#include <algorithm>

#include "deploy/local/cluster.hpp"
#include "deploy/local/versions.hpp"
#include "drivers/zookeeper/four_letter.hpp"
#include "drivers/zookeeper/servers.hpp"
#include "drivers/zookeeper/zookeeper.hpp"
#include "harness/async/scope.hpp"

namespace lockmark::zookeeper {
namespace {

// A leader's epoch, which each election raises, is the upper half of the server's last transaction.
task<void> find_epoch(loop& l, const servers& where, std::uint64_t& last) {
  const auto answers = co_await ask_all(l, where.hosts, "srvr", l.now() + std::chrono::seconds(10));
  for (const word_answer& each : answers) {
    const auto fields = fields_in(each.text, ": ");
    const auto zxid = fields.find("Zxid");
    if (zxid == fields.end()) continue;
    const std::uint64_t epoch = std::stoull(zxid->second, nullptr, 16) >> 32U;
    last = std::max(last, epoch);
  }
}

std::uint64_t elections(const std::string& target) {
  const real_clock clock;
  loop l{clock};
  const servers where = servers_at(target);
  std::uint64_t last = 0;
  run_to_end(l, find_epoch(l, where, last));
  return last;
}

}  // namespace
}  // namespace lockmark::zookeeper

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
      s.elections = [&servers] { return lockmark::zookeeper::elections(servers.target()); };
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
