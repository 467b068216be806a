// Whole runs through the command line: their output, exit status and run folder, in memory and on
// real servers; also when something is killed during the run.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <set>
#include <sstream>

#include "deploy/local/cluster.hpp"
#include "deploy/local/test_support.hpp"
#include "harness/config/target.hpp"
#include "program/test_servers.hpp"

namespace lockmark::cli {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> with_settings(std::vector<std::string> arguments,
                                       std::initializer_list<const char*> settings) {
  for (const char* s : settings) {
    arguments.push_back("--set");
    arguments.push_back(s);
  }
  return arguments;
}

// A shortened job.
std::vector<std::string> brief(std::vector<std::string> arguments) {
  return with_settings(std::move(arguments),
                       {"stop.duration=300ms", "stop.samples=0", "stop.owner_changes=0",
                        "stop.at_most=2s", "warmup=50ms", "floor=0s"});
}

class runs : public testing::Test {
 protected:
  std::string out() const { return (dir_ / "runs").string(); }
  ended report(const fs::path& folder) const {
    return run(dir_.path(), {"report", folder.string()});
  }
  void expect_incomplete(const fs::path& folder) const {
    EXPECT_EQ(read_json(folder / "run.json")["run"]["complete"], false);
    const ended told = report(folder);
    EXPECT_EQ(told.status, 0) << told.err;
    EXPECT_THAT(told.out,
                AnyOf(HasSubstr("incomplete"), HasSubstr("interrupted"), HasSubstr("INCOMPLETE")));
  }

  scratch dir_;
};

// Two holders at a time, on purpose: exit 1, and the interval of each holder of the key.
TEST_F(runs, name_two_holders) {
  const ended e =
      run(dir_.path(), with_settings(brief({"run", "contended", "--on", "memory:", "--out", out()}),
                                     {"lock=faulty/lock", "options.two_holders=50", "hold=1ms"}));
  EXPECT_EQ(e.status, 1) << e.err;
  EXPECT_THAT(e.out, HasSubstr("NOT HELD"));
  EXPECT_THAT(e.out, testing::ContainsRegex(
                         "key [^ ]+: instance [0-9]+ client [0-9]+ held it from "
                         "[-0-9.]+ to [-0-9.]+ ms, instance [0-9]+ client [0-9]+ held it from "
                         "[-0-9.]+ to [-0-9.]+ ms"));
}

// The rows of a HistogramLogProcessor's -csv output: the sixth column is the count so far.
std::int64_t count_by_processor(const fs::path& log, const scratch& dir) {
  output_of({"java", "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp",
             "/usr/share/java/hdrhistogram.jar", "org.HdrHistogram.HistogramLogProcessor", "-i",
             log.string(), "-csv", "-outputValueUnitRatio", "1", "-o", (dir / "csv").string()},
            dir.path());
  std::istringstream lines(read_text(dir / "csv"));
  std::string last;
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line[0] != '#' && line[0] != '"') last = line;
  }
  std::istringstream fields(last);
  std::string field;
  for (int i = 0; i < 6; ++i) std::getline(fields, field, ',');
  return field.empty() ? -1 : std::stoll(field);
}

// HdrHistogram's own program counts as many values in a run's latency.hlog as run.json states.
TEST_F(runs, leave_a_log_that_others_read) {
  const ended e = run(dir_.path(), brief({"run", "contended", "--on", "memory:", "--out", out()}));
  ASSERT_THAT(e.status, AnyOf(0, 3)) << e.err;
  const fs::path folder = only_folder(out());
  const auto said = read_json(folder / "run.json");
  EXPECT_GT(said["counts"]["granted"], 0);
  EXPECT_EQ(count_by_processor(folder / "latency.hlog", dir_), said["counts"]["granted"]);
  EXPECT_EQ(said["run"]["complete"], true);
}

// The table as JSON: the keys that other programs rely on, in every row, and only two others.
TEST_F(runs, make_a_table_as_json) {
  std::ofstream(dir_ / "targets.yaml") << "mem: 'memory:'\n";
  const ended e = run(dir_.path(), brief({"table", "--targets", (dir_ / "targets.yaml").string(),
                                          "--locks", "memory/*", "--repeats", "1", "--format",
                                          "json", "--quiet", "--out", out()}));
  EXPECT_THAT(e.status, AnyOf(0, 3)) << e.err;
  const auto rows = nlohmann::json::parse(e.out, nullptr, false);
  ASSERT_TRUE(rows.is_array()) << e.out;
  EXPECT_EQ(rows.size(), 12u);  // six locks, two scenarios
  const std::set<std::string> contract = {"lock",         "topology",
                                          "scenario",     "success_rate",
                                          "tps",          "samples",
                                          "acquire_ns",   "handoff_ns",
                                          "fairness",     "commands_per_acquire",
                                          "safety_class", "violations",
                                          "valid",        "reasons",
                                          "worst_client", "durability",
                                          "recovery_ns",  "server_commands_per_acquire"};
  for (const auto& row : rows) {
    std::set<std::string> keys;
    for (const auto& [key, value] : row.items()) keys.insert(key);
    // "bound" lists the figures that are lower bounds, "run" names the folder.
    keys.erase("bound");
    keys.erase("run");
    EXPECT_EQ(keys, contract);
    // Of a machine that stood still there may be fewer attempts than a p99 needs, or none.
    const bool enough = row["samples"] > 1'000;
    for (const char* q : {"p50", "p90", "p99", "p999", "max"}) {
      const auto& time = row["acquire_ns"].at(q);
      const bool known = time.is_number() || time.is_string();
      EXPECT_TRUE(known || !enough || q == std::string("p999")) << row;
    }
    EXPECT_EQ(row["topology"], "mem");
    EXPECT_EQ(row["violations"], 0);
  }
}

// One self-contained file: for a table beside the other formats, for runs on request.
TEST_F(runs, become_a_page) {
  std::ofstream(dir_ / "targets.yaml") << "mem: 'memory:'\n";
  const ended made = run(
      dir_.path(), brief({"table", "--targets", (dir_ / "targets.yaml").string(), "--locks",
                          "memory/*lock", "--scenarios", "contended", "--quiet", "--out", out()}));
  EXPECT_THAT(made.status, AnyOf(0, 3)) << made.err;
  const std::string of_table = read_text(fs::path(out()) / "report.html");
  EXPECT_THAT(of_table, AllOf(HasSubstr("memory/lock on mem"), HasSubstr("memory/try_lock on mem"),
                              HasSubstr("Chart.js")));
  std::vector<std::string> report{"report", "--format", "html"};
  for (const auto& entry : fs::directory_iterator(out())) {
    if (entry.is_directory()) report.push_back(entry.path());
  }
  const ended printed = run(dir_.path(), report);
  EXPECT_EQ(printed.status, 0) << printed.err;
  EXPECT_THAT(printed.out,
              AllOf(testing::StartsWith("<!DOCTYPE html>"), testing::EndsWith("</html>\n")));
  report.insert(report.end(), {"--out", (dir_ / "page.html").string()});
  const ended written = run(dir_.path(), report);
  EXPECT_EQ(written.status, 0) << written.err;
  EXPECT_THAT(written.out, IsEmpty());
  EXPECT_EQ(read_text(dir_ / "page.html"), printed.out);
}

// kill -9 of lockmark itself: the data measured until then are there, marked incomplete.
TEST_F(runs, that_are_killed_leave_what_they_measured) {
  program p(lockmark(with_settings({"run", "contended", "--on", "memory:", "--out", out()},
                                   {"stop.samples=0", "stop.duration=60s", "stop.at_most=60s",
                                    "warmup=50ms", "floor=0s", "hold=1ms"})),
            dir_.path());
  ASSERT_TRUE(p.says("measuring")) << p.err();
  const fs::path folder = only_folder(out());
  ASSERT_TRUE(local::eventually([&] { return fs::exists(folder / "run.json"); }));
  p.signal(SIGKILL);
  EXPECT_EQ(p.wait(5s).status, 128 + SIGKILL);
  expect_incomplete(folder);
}

class server_runs : public runs, public testing::WithParamInterface<backend> {
 protected:
  config::target target() const { return *config::parse_target(cluster_.target()); }
  std::string state() const { return state_of(target(), dir_.path()); }
  std::vector<std::string> endless(const char* give_up_after) const {
    return lockmark(with_settings({"run", "contended", "--on", cluster_.target(), "--out", out()},
                                  {"stop.samples=0", "stop.duration=60s", "stop.at_most=60s",
                                   "warmup=50ms", "floor=0s", give_up_after}));
  }

  local::cluster cluster_ = local::cluster::start(GetParam().topology);
};
INSTANTIATE_TEST_SUITE_P(on, server_runs, testing::ValuesIn(backends),
                         [](const auto& p) { return p.param.topology; });

// Ctrl-C during the run: inconclusive, a readable folder, and an unchanged server.
TEST_P(server_runs, clean_up_after_an_interrupt) {
  const std::string before = state();
  // Longer than a busy disk keeps a server that syncs each change.
  program p(endless("give_up_after=30s"), dir_.path());
  ASSERT_TRUE(p.says("measuring")) << p.err();
  EXPECT_TRUE(local::eventually([&] { return state() != before; })) << "the test sees nothing";
  p.signal(SIGINT);
  const ended e = p.wait(10s);
  EXPECT_EQ(e.status, 3) << e.err;
  const std::string said = without_progress(e.err);
  EXPECT_THAT(said, AllOf(is_one_sentence(), HasSubstr("interrupted")));
  EXPECT_EQ(state(), before);
  expect_incomplete(only_folder(out()));
}

// The server is killed during the run: no waiting beyond give_up_after, one sentence, a folder.
TEST_P(server_runs, end_when_the_server_is_killed) {
  program p(endless("give_up_after=2s"), dir_.path());
  ASSERT_TRUE(p.says("measuring")) << p.err();
  cluster_.kill(GetParam().server, SIGKILL);
  const ended e = p.wait(10s);
  EXPECT_EQ(e.status, 2) << e.err;
  const std::string said = without_progress(e.err);
  EXPECT_THAT(said, is_one_sentence());
  EXPECT_THAT(said, HasSubstr(fmt::format("127.0.0.1:{}", target().hosts[0].port)));
  expect_incomplete(only_folder(out()));
}

std::vector<std::string> shipped_jobs() {
  std::vector<std::string> all;
  for (const auto& entry : fs::directory_iterator("workloads/jobs")) {
    if (entry.is_regular_file()) all.push_back(entry.path().string());
  }
  std::sort(all.begin(), all.end());
  return all;
}

// Every shipped job, read from its file, runs on this server and leaves nothing on it.
TEST_P(server_runs, of_every_shipped_job_work) {
  const std::string before = state();
  for (const std::string& job : shipped_jobs()) {
    const auto play = [&] {
      return run(dir_.path(), brief({"run", job, "--on", cluster_.target(), "--out", out()}));
    };
    ended e = play();
    // A busy machine may not log in all clients in time, which is not what is tested here.
    for (int left = 2; left > 0 && e.err.find("within the time allowed") != e.err.npos; --left) {
      e = play();
    }
    // What no lock on these servers has.
    const std::string topology = GetParam().topology;
    const bool no_readers = topology == "mysql" && job.find("read_mostly") != job.npos;
    const bool not_reentrant = topology == "etcd" && job.find("reentrant") != job.npos;
    if (no_readers || not_reentrant) {
      EXPECT_EQ(e.status, 2);
      EXPECT_THAT(e.err, HasSubstr(no_readers ? "readers beside it: read_share" : "(reentrant)"));
      continue;
    }
    EXPECT_THAT(e.status, AnyOf(0, 3)) << job << ": " << e.out << e.err;
    EXPECT_THAT(e.out, HasSubstr("run folder: ")) << job;
    EXPECT_EQ(state(), before) << job;
  }
}

// Every shipped job, read from its file, runs in memory, unless it injects server faults.
TEST_F(runs, of_every_shipped_job_work_in_memory) {
  ASSERT_FALSE(shipped_jobs().empty());
  for (const std::string& job : shipped_jobs()) {
    const ended e = run(dir_.path(), brief({"run", job, "--on", "memory:", "--out", out()}));
    if (read_text(job).find("\nfaults:") != std::string::npos) {
      EXPECT_EQ(e.status, 2) << job << ": " << e.out << e.err;
      continue;
    }
    EXPECT_THAT(e.status, AnyOf(0, 3)) << job << ": " << e.out << e.err;
    EXPECT_THAT(e.out, HasSubstr("run folder: ")) << job;
  }
}

// The password is neither in the output nor in the files of the run.
void expect_unseen(const std::string& password, const ended& e, const fs::path& out) {
  EXPECT_THAT(e.out, Not(HasSubstr(password)));
  EXPECT_THAT(e.err, Not(HasSubstr(password)));
  if (!fs::exists(out)) return;
  EXPECT_THAT(files_with(out, password), IsEmpty());
}

// A wrong password for MariaDB is an error that names the server; a correct one stays secret.
TEST_F(runs, refuse_a_wrong_password_of_mysql) {
  const local::cluster cluster = local::cluster::start("mysql");
  const config::target right = *config::parse_target(cluster.target());
  const std::string place = fmt::format("127.0.0.1:{}", right.hosts.at(0).port);
  const std::string url = fmt::format("mysql://{}:hunter2@{}/{}", right.user, place, right.path);
  const ended e = run(dir_.path(), brief({"run", "contended", "--on", url, "--out", out()}), 10s);
  EXPECT_EQ(e.status, 2);
  EXPECT_THAT(e.err, AllOf(is_one_sentence(), HasSubstr(place), HasSubstr("password")));
  expect_unseen("hunter2", e, out());

  const ended good =
      run(dir_.path(), brief({"run", "contended", "--on", cluster.target(), "--out", out()}));
  EXPECT_THAT(good.status, AnyOf(0, 3)) << good.err;
  expect_unseen(right.password, good, out());
}

// Redis with a wrong password, and with none where it needs one; a correct one stays secret.
TEST_F(runs, refuse_a_wrong_password_of_redis) {
  const local::cluster cluster = local::cluster::start("redis");
  const config::target server = *config::parse_target(cluster.target());
  const std::string port = fmt::format("{}", server.hosts.at(0).port);
  const std::string place = fmt::format("127.0.0.1:{}", port);
  output_of({"redis-cli", "-p", port, "CONFIG", "SET", "requirepass", "swordfish"}, dir_.path());
  for (const std::string login : {":hunter2@", ""}) {
    const std::string url = fmt::format("redis://{}{}", login, place);
    const ended e = run(dir_.path(), brief({"run", "contended", "--on", url, "--out", out()}), 10s);
    EXPECT_EQ(e.status, 2);
    EXPECT_THAT(e.err, AllOf(is_one_sentence(), HasSubstr(place),
                             AnyOf(HasSubstr("password"), HasSubstr("Authentication"))));
    expect_unseen("hunter2", e, out());
  }
  const std::string url = fmt::format("redis://:swordfish@{}", place);
  const ended good = run(dir_.path(), brief({"run", "contended", "--on", url, "--out", out()}));
  EXPECT_THAT(good.status, AnyOf(0, 3)) << good.err;
  expect_unseen("swordfish", good, out());
}

}  // namespace
}  // namespace lockmark::cli
