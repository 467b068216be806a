// Jobs with faults from a user's view: marks, gaps, exit status, sentences.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <fstream>

#include "deploy/local/cluster.hpp"
#include "program/test_program.hpp"

namespace lockmark::cli {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;
namespace fs = std::filesystem;

class runs_with_faults : public testing::Test {
 protected:
  // A file with a four-second job with these faults ("{do: ...}" each). Its lease is short: after a
  // silence the server may grant a request that its client has given up; nobody knows of that
  // grant, and it ends with its lease.
  std::string job_with(const std::vector<std::string>& faults) {
    const fs::path file = dir_ / "broken.yaml";
    std::ofstream out(file);
    out << "lock: redis/set_nx_px\nload: {instances: 2, clients: 1}\nhold: 1ms\nwait: 1s\n"
           "lease: 1s\ngive_up_after: 500ms\ncommand_timeout: 200ms\nwarmup: 200ms\nfloor: 0s\n"
           "stop: {duration: 4s}\nfaults:\n";
    for (const std::string& fault : faults) out << "  - " << fault << "\n";
    return file.string();
  }
  ended run_job(const std::vector<std::string>& faults, const std::string& on) {
    return run(dir_.path(),
               {"run", job_with(faults), "--on", on, "--quiet", "--out", (dir_ / "runs").string()});
  }
  // The child started with this as its one argument; 0: there is none.
  static pid_t child_of(pid_t parent, const std::string& argument) {
    std::ifstream children(fmt::format("/proc/{0}/task/{0}/children", parent));
    for (pid_t child = 0; children >> child;) {
      const std::string words = read_text(fmt::format("/proc/{}/cmdline", child));
      if (words.ends_with(std::string(1, '\0') + argument + '\0')) return child;
    }
    return 0;
  }
  nlohmann::json result() { return read_json(only_folder(dir_ / "runs") / "run.json"); }

  scratch dir_;
};

// The tour breaks two locks and holds the third, and leaves a page of all three.
TEST_F(runs_with_faults, are_shown_on_a_tour) {
  const ended e = run(dir_.path(), {"try", "--quiet", "--out", (dir_ / "tour").string()}, 120s);
  EXPECT_EQ(e.status, 0) << e.err;
  const std::size_t second = e.out.find("\n2. "), third = e.out.find("\n3. ");
  ASSERT_NE(third, e.out.npos) << e.out;
  EXPECT_THAT(e.out.substr(0, second), AllOf(HasSubstr("X: two at once"), HasSubstr("NOT HELD")));
  EXPECT_THAT(e.out.substr(second, third - second), HasSubstr("X: two at once"));
  EXPECT_THAT(e.out.substr(third), AllOf(HasSubstr("held: "), HasSubstr("One at a time.")));
  EXPECT_THAT(read_text(dir_ / "tour" / "report.html"), HasSubstr("redis/lua"));
}

// The mark is at the time of the fault, the longest gap covers it, and the run ends well although
// its only server was silent for longer than a run otherwise tolerates.
TEST_F(runs_with_faults, show_them_where_they_were) {
  const ended e = run_job({"{do: pause, who: master, at: 1s, for: 1s}"}, "local:redis");
  EXPECT_THAT(e.status, testing::AnyOf(0, 3)) << e.err;  // 3: this machine stalled
  const auto r = result();
  const auto marks = marks_but_stalls(r);
  ASSERT_EQ(marks.size(), 1U);
  const auto& mark = marks[0];
  EXPECT_EQ(mark.at("kind"), "pause_master");
  EXPECT_EQ(mark.at("text"), "the master was paused for 1 s (redis)");
  EXPECT_THAT(mark.at("at_s").get<double>(), AllOf(Ge(1.0), Le(3.0)));
  EXPECT_THAT(mark.at("for_s").get<double>(), AllOf(Ge(1.0), Le(3.0)));
  const auto& gap = r.at("longest_gap");
  const double silence_s = gap.at("length_ns").get<double>() * 1e-9;
  EXPECT_LE(silence_s, 3) << gap;
  // What lockmark stood still of it is not the lock's.
  double stalled_s = 0;
  for (const auto& each : r.at("marks")) {
    if (each.at("kind") == "stood_still") stalled_s += each.at("for_s").get<double>();
  }
  EXPECT_GE(silence_s + stalled_s, 0.9) << gap << r.at("marks");
  EXPECT_THAT(gap.at("began_ns").get<double>(), AllOf(Ge(0.5e9), Le(3e9))) << gap;
}

TEST_F(runs_with_faults, bring_killed_servers_back) {
  const ended e = run_job({"{do: kill, who: server 1, at: 500ms, for: 500ms, data: lost}",
                           "{do: cut, who: servers, at: 2s, for: 500ms}"},
                          "local:redis");
  // A lock without data may be granted twice; a machine may stall.
  EXPECT_THAT(e.status, testing::AnyOf(0, 1, 3)) << e.err;
  const auto r = result();
  const auto marks = marks_but_stalls(r);
  ASSERT_EQ(marks.size(), 2U);
  EXPECT_EQ(marks[0].at("kind"), "kill_server");
  EXPECT_EQ(marks[1].at("kind"), "cut_servers");
  EXPECT_EQ(r.at("run").at("status"), "complete") << e.err;
}

// Every request of a client goes there and back through the proxies; the servers' own replies to
// lockmark are not part of the load.
TEST_F(runs_with_faults, come_on_top_of_a_longer_round_trip) {
  const auto lone = [this](const std::string& on, const char* participants) {
    return run(dir_.path(),
               {"run", "one_client", "--on", on, "--quiet", "--out", (dir_ / "runs").string(),
                "--set", "rtt=4ms", "--set", "rtt_jitter=100us", "--set", participants, "--set",
                "stop.samples=50", "--set", "stop.duration=300ms"});
  };
  for (const char* participants : {"participants=0", "participants=1"}) {
    fs::remove_all(dir_ / "runs");
    const ended e = lone("local:redis", participants);
    EXPECT_THAT(e.status, testing::AnyOf(0, 3)) << e.err;  // 3: the machine was frozen meanwhile
    const auto r = result();
    EXPECT_EQ(r.at("run").at("rtt_ns"), 4'000'000);
    EXPECT_EQ(r.at("run").at("rtt_jitter_ns"), 100'000);
    EXPECT_GE(r.at("quantiles").at("service").at("quantiles")[0].at("value_ns").get<double>(), 4e6);
    EXPECT_GT(r.at("harness").at("proxies_share").get<double>(), 0);
    EXPECT_THAT(e.out, HasSubstr("4.0 ms longer, and up to 100 us more, by"));
  }
  const ended memory = lone("memory:", "participants=0");
  EXPECT_EQ(memory.status, 2);
  EXPECT_THAT(memory.err, HasSubstr("rtt: memory: has no network between clients and servers"));
  for (const char* url :
       {"redis+sentinel://127.0.0.1:1/mymaster", "redis+clusters://127.0.0.1:1,127.0.0.1:2"}) {
    const ended e = lone(url, "participants=0");
    EXPECT_EQ(e.status, 2);
    EXPECT_THAT(e.err, HasSubstr("rtt: lockmark can only delay servers that the target names"));
  }
}

// Servers not started by lockmark: a command of the user, or lockmark's proxies.
TEST_F(runs_with_faults, let_commands_hit_servers_of_others) {
  const auto servers = local::cluster::start("redis");
  const std::string cli = fmt::format("redis-cli -p {}", servers.servers()[0].port);
  const ended e = run_job(
      {fmt::format("{{do: run, command: '{} CLIENT PAUSE 100000 WRITE', undo: '{} CLIENT UNPAUSE', "
                   "at: 1s, for: 1s}}",
                   cli, cli),
       "{do: stall, who: server 1, at: 2500ms, for: 500ms}"},
      servers.target());
  EXPECT_THAT(e.status, testing::AnyOf(0, 3)) << e.err;  // 3: this machine stalled
  const auto r = result();
  const auto marks = marks_but_stalls(r);
  ASSERT_EQ(marks.size(), 2U);
  EXPECT_EQ(marks[0].at("kind"), "run_command");
  EXPECT_THAT(marks[0].at("text").get<std::string>(), HasSubstr("'redis-cli ***' was run"));
  EXPECT_EQ(marks[1].at("kind"), "stall_server");
}

TEST_F(runs_with_faults, end_where_a_command_fails) {
  const auto servers = local::cluster::start("redis");
  const ended e =
      run_job({"{do: run, command: 'echo no such host; exit 7', at: 500ms}"}, servers.target());
  EXPECT_EQ(e.status, 2);
  EXPECT_THAT(e.err, HasSubstr("faults.1: run_command failed: the command 'echo ***' ended with "
                               "exit status 7: no *** ***\n"));
  EXPECT_EQ(result().at("run").at("status"), "failed");
}

// Invalid plans: one sentence, exit status 2, and no folder.
TEST_F(runs_with_faults, are_refused_with_a_sentence) {
  const auto servers = local::cluster::start("redis");
  const std::pair<const char*, const char*> cases[] = {
      {"{do: kil, who: master, at: 1s}", "broken.yaml:12: faults.1.do: expected pause"},
      {"{do: kill, who: master, at: 1s}", "needs servers that lockmark starts itself"},
      {"{do: kill, who: holder, at: 1s}", "needs participants that are processes of their own"},
      {"{do: cut, who: server 7, at: 1s, for: 1s}", "there is no server 7"},
  };
  for (const auto& [fault, sentence] : cases) {
    const ended e = run_job({fault}, servers.target());
    EXPECT_EQ(e.status, 2) << fault;
    EXPECT_THAT(e.err, HasSubstr(sentence));
    EXPECT_EQ(std::count(e.err.begin(), e.err.end(), '\n'), 1) << e.err;
    EXPECT_TRUE(!fs::exists(dir_ / "runs") || fs::is_empty(dir_ / "runs"));
  }
  const ended memory = run(dir_.path(), {"run",
                                         job_with({"{do: cut, who: servers, at: 1s, for: "
                                                   "1s}"}),
                                         "--on", "memory:", "--set", "lock=memory/lock"});
  EXPECT_EQ(memory.status, 2);
  EXPECT_THAT(memory.err, HasSubstr("needs servers that are reached by network"));
}

// The proxies die during a run: it ends, blames neither lock nor server, and shows what was
// measured until then.
TEST_F(runs_with_faults, survive_the_death_of_their_proxies) {
  program p(
      lockmark({"run", job_with({"{do: cut, who: servers, at: 1h, for: 1s}"}), "--on",
                "local:redis", "--set", "stop.duration=30s", "--out", (dir_ / "runs").string()}),
      dir_.path());
  ASSERT_TRUE(p.says("measuring", 2));
  const pid_t proxies = child_of(p.pid(), "proxy");
  ASSERT_GT(proxies, 0);
  kill(proxies, SIGKILL);
  const ended e = p.wait(20s);
  EXPECT_EQ(e.status, 2) << e.err;
  EXPECT_THAT(e.err, HasSubstr("lockmark: the proxies that lockmark had put between"));
  EXPECT_THAT(e.err, testing::Not(HasSubstr("answered for")));
  EXPECT_THAT(e.out, HasSubstr("INCOMPLETE"));
  EXPECT_EQ(result().at("run").at("status"), "failed");
  EXPECT_GT(result().at("counts").at("granted").get<int>(), 0);
}

}  // namespace
}  // namespace lockmark::cli
