// The suite for every lock on one topology, LOCKMARK_TOPOLOGY; each lock is a program of its own.
//
// Beside the cases, a process writes to the servers: an ensemble of ZooKeeper 3.6 to 3.8.0 that is
// otherwise idle can leave the last write unanswered until the next one (ZOOKEEPER-4537).
#include "drivers/conformance/conformance.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <stdexcept>
#include <string>

#include "deploy/local/cluster.hpp"
#include "deploy/local/versions.hpp"
#include "drivers/zookeeper/four_letter.hpp"
#include "drivers/zookeeper/handle.hpp"
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

// Keeps a node coming and going, until the process is killed.
task<void> write_without_end(loop& l, std::string hosts) {
  constexpr duration pause = std::chrono::milliseconds(50);
  constexpr duration patience = std::chrono::seconds(5);
  while (true) {
    scope tasks{l};
    const auto zk = handle::open(l, tasks, {hosts, std::chrono::seconds(10)});
    while (!zk->over()) {
      co_await zk->connected_by(l.now() + patience);
      co_await zk->create("/busy", "", node_kind::ephemeral, l.now() + patience);
      co_await zk->remove("/busy", l.now() + patience);
      co_await l.sleep_for(pause);
    }
    co_await tasks.join();
  }
}

// A process that writes to the servers as long as this object lives.
class writing_process {
 public:
  explicit writing_process(const std::string& target) : pid_(fork()) {
    if (pid_ < 0) throw std::runtime_error("no process");
    if (pid_ == 0) write_to(target);
  }
  ~writing_process() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  writing_process(const writing_process&) = delete;
  writing_process& operator=(const writing_process&) = delete;

 private:
  // The body of the process.
  [[noreturn]] static void write_to(const std::string& target) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    try {
      const real_clock clock;
      loop l{clock};
      run_to_end(l, write_without_end(l, servers_at(target).host_list()));
    } catch (const std::exception& e) {
      fmt::print(stderr, "the writing process: {}\n", e.what());
    }
    _exit(1);
  }

  const pid_t pid_;
};

}  // namespace
}  // namespace lockmark::zookeeper

int main(int argc, char** argv) {
  const auto servers =
      lockmark::local::cluster::start(lockmark::local::of_version_under_test(LOCKMARK_TOPOLOGY));
  const lockmark::zookeeper::writing_process beside{servers.target()};
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
