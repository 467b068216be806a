// Errors of the command line that need no particular server: each is one clear sentence and exit
// status 2, in time; and the output when all is well.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>

#include "deploy/local/cluster.hpp"
#include "harness/config/job.hpp"
#include "program/test_servers.hpp"

namespace lockmark::cli {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;

constexpr duration deadline = 10s;

std::vector<std::string> locks_asked_for() {
  return {
      "redis/setnx",
      "redis/setnx_expire",
      "redis/getset",
      "redis/set_nx_px",
      "redis/lua",
      "redis/lua_reentrant",
      "redis/redisson",
      "redis/redisson_spin",
      "redis/redisson_fair",
      "redis/redisson_read",
      "redis/redisson_write",
      "redis/redisson_fenced",
      "redis/redisson_multi",
      "redis/redisson_red",
      "redis/redlock",
      "redis/sharded",
      "zookeeper/persistent",
      "zookeeper/ephemeral",
      "zookeeper/sequential",
      "zookeeper/semaphore_mutex",
      "zookeeper/read",
      "zookeeper/write",
      "zookeeper/semaphore",
      "zookeeper/multi",
      "mysql/optimistic_version",
      "mysql/optimistic_update_time",
      "mysql/for_update",
      "mysql/unique_key",
      "mysql/unique_key_reentrant",
      "mysql/get_lock",
      "mysql/shedlock",
      "etcd/mutex",
      "etcd/lock_service",
      "etcd/rw",
      "etcd/rw_read",
  };
}

class usage : public testing::Test {
 protected:
  ended run(std::vector<std::string> arguments, duration limit = deadline) const {
    return cli::run(dir_.path(), std::move(arguments), limit);
  }
  std::string out() const { return (dir_ / "runs").string(); }
  std::string write(std::string_view name, const std::string& text) const {
    std::ofstream(dir_ / name) << text;
    return (dir_ / name).string();
  }

  void expect_error(const ended& e, const testing::Matcher<std::string>& sentence) const {
    EXPECT_EQ(e.status, 2) << e.out;
    EXPECT_THAT(e.err, is_one_sentence());
    EXPECT_THAT(e.err, sentence);
    EXPECT_THAT(e.out, IsEmpty());
  }

  // A run folder left behind must be readable by `report`; none at all is fine, too.
  void expect_readable_folders() const {
    if (!std::filesystem::exists(out())) return;
    for (const auto& folder : std::filesystem::directory_iterator(out())) {
      const ended told = run({"report", folder.path().string()});
      EXPECT_EQ(told.status, 0) << told.err;
    }
  }

  scratch dir_;
};

// A mistyped key in a job file: its place, the text, and the likely correction.
TEST_F(usage, names_the_place_of_a_mistyped_key) {
  const std::string job = write("mine.yaml", "lock: memory/lock\nload:\n  instaces: 3\n");
  expect_error(run({"run", job, "--out", out()}),
               AllOf(HasSubstr("mine.yaml:3"), HasSubstr("load.instaces"),
                     HasSubstr("nearest known key is load.instances")));
}

// A value on the command line with an unknown unit, and one without a unit.
TEST_F(usage, names_an_unknown_unit) {
  expect_error(run({"run", "contended", "--on", "memory:", "--set", "wait=5parsec"}),
               AllOf(HasSubstr("wait"), HasSubstr("5parsec"), HasSubstr("ms")));
  expect_error(run({"run", "contended", "--on", "memory:", "--set", "wait=5"}),
               AllOf(HasSubstr("wait"), HasSubstr("ms")));
}

// An unknown lock, command or option: what was probably meant, and where the others are.
TEST_F(usage, suggests_what_was_meant) {
  expect_error(run({"run", "contended", "--on", "memory:", "--lock", "redis/luaa"}),
               AllOf(HasSubstr("redis/luaa"), HasSubstr("did you mean redis/lua?"),
                     HasSubstr("lockmark list")));
  expect_error(run({"runn"}), AllOf(HasSubstr("did you mean run?"), HasSubstr("lockmark --help")));
  expect_error(run({"run", "contended", "--durration", "5s"}),
               AllOf(HasSubstr("--durration 5s"), HasSubstr("lockmark run --help")));
}

// Without a command, and with `help`, there is help.
TEST_F(usage, helps) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{}, {"help"}, {"--help"}}) {
    const ended e = run(words);
    EXPECT_EQ(e.status, 0) << e.err;
    EXPECT_THAT(e.out, AllOf(HasSubstr("table"), HasSubstr("Exit status")));
  }
  EXPECT_THAT(run({"help", "run"}).out, AllOf(HasSubstr("--duration"), HasSubstr("--on")));
}

// Concepts are explained, under whatever spelling; of a mistyped one the nearest is said.
TEST_F(usage, explains_concepts) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"help", "exit-status"},
                                                {"help", "Exit", "status"},
                                                {"help", "exit_status"}}) {
    const ended e = run(words);
    EXPECT_EQ(e.status, 0) << e.err;
    EXPECT_THAT(e.out, AllOf(HasSubstr("\ngate:      0 PASS;"), HasSubstr("2 is wrong usage")));
  }
  for (const char* name : {"closed-loop", "hand-off", "bounds", "safety"}) {
    EXPECT_THAT(run({"--help"}).out, HasSubstr(name));
    EXPECT_THAT(run({"help", "--help"}).out, HasSubstr(name));
    EXPECT_EQ(run({"help", name}).status, 0) << name;
  }
  expect_error(run({"help", "handof"}), HasSubstr("did you mean hand-off?"));
}

// A job can be looked at, taken as a file to begin with, and explained, without a server.
TEST_F(usage, shows_and_explains_jobs) {
  EXPECT_THAT(run({"job", "list"}).out, HasSubstr("\nherd  "));
  const std::string shown = run({"job", "show", "contended"}).out;
  EXPECT_THAT(shown, testing::StartsWith("# What does a lock cost"));
  const std::string file = (dir_ / "my.yaml").string();
  std::ofstream(file) << shown;
  EXPECT_THAT(run({"job", "show", file, "--hold", "7ms"}).out,
              AllOf(HasSubstr("hold: 7ms\n"), HasSubstr("warmup: 1s\n")));
  const ended e = run({"job", "explain", "contended", "--clients", "8"});
  EXPECT_THAT(e.out, HasSubstr("8 clients (4 instances of 2)"));
  EXPECT_EQ(run({"run", "contended", "--clients", "8", "--explain"}).out, e.out);
  expect_error(run({"job", "show"}), HasSubstr("which job? See lockmark job list"));
}

// For whoever has to know what they run: the build, and every library with its licence.
TEST_F(usage, tells_what_it_is_made_of) {
  const std::string version = run({"--version"}).out;
  EXPECT_THAT(version, testing::MatchesRegex("[0-9]+[.][0-9]+[.][0-9]+\n"));
  const ended e = run({"--version", "--verbose"});
  EXPECT_EQ(e.status, 0) << e.err;
  EXPECT_THAT(e.out, testing::StartsWith("lockmark " + version));
  for (const char* part :
       {"\nrevision  ", "\ncompiler  ", "\nOpenSSL +[0-9.]+[^ ]* +shared +Apache",
        "\nAsio +[0-9.]+[^ ]* +compiled in +BSL-1.0\n"}) {
    EXPECT_THAT(e.out, testing::ContainsRegex(part));
  }
  expect_error(run({"--verbose"}), HasSubstr("--verbose requires --version"));
}

// The short options stand for settings of the job, which --set may change again.
TEST_F(usage, has_short_options_for_what_everybody_sets) {
  const ended e = run({"run",        "contended",  "--on",      "memory:",
                       "--duration", "300ms",      "--clients", "6",
                       "--hold",     "2ms",        "--rate",    "100/s",
                       "--keys",     "uniform(3)", "--lock",    "memory/try_lock",
                       "--wait",     "200ms",      "--set",     "hold=1ms",
                       "--set",      "warmup=0s",  "--set",     "floor=0s",
                       "--out",      out()},
                      30s);
  EXPECT_THAT(e.status, testing::AnyOf(0, 3)) << e.err;
  const config::job ran = config::load_job((only_folder(out()) / "job.yaml").string());
  const std::string yaml = config::print_job(ran);
  for (const char* line : {"lock: memory/try_lock", "hold: 1ms", "keys: uniform(3)", "wait: 200ms",
                           "loop: open", "rate: 100/s", "duration: 300ms", "at_most: 300ms"}) {
    EXPECT_THAT(yaml, HasSubstr(line));
  }
  EXPECT_EQ(ran.instances, 3U);
  EXPECT_EQ(ran.clients, 2U);
  EXPECT_EQ(ran.stop_samples, 0U);
  expect_error(run({"run", "contended", "--on", "memory:", "--clients", "0"}),
               HasSubstr("--clients: expected a whole number from 1, not '0'"));
  expect_error(run({"run", "contended", "--on", "memory:", "--hold", "5"}),
               AllOf(HasSubstr("lockmark: --hold: "), HasSubstr("'5'"), Not(HasSubstr("--set"))));
}

// A lock of another backend than the target's.
TEST_F(usage, refuses_a_lock_that_does_not_fit_the_target) {
  expect_error(
      run({"run", "contended", "--on", "memory:", "--set", "lock=redis/lua", "--out", out()}),
      AllOf(HasSubstr("redis/lua"), HasSubstr("memory:"), HasSubstr("runs on redis")));
}

// A job that needs reentrancy, on a lock without it: the feature is named.
TEST_F(usage, refuses_a_lock_that_lacks_a_feature) {
  const ended e =
      run({"run", "reentrant", "--on", "memory:", "--set", "lock=memory/try_lock", "--out", out()});
  expect_error(e, AllOf(HasSubstr("memory/try_lock"), HasSubstr("reentrant")));
}

// A job that is neither a file nor shipped.
TEST_F(usage, lists_the_shipped_jobs) {
  expect_error(run({"run", "contnded", "--on", "memory:"}),
               AllOf(HasSubstr("contnded"), HasSubstr("contended"), HasSubstr("short_wait")));
}

// A missing targets file, and one that is not a list of targets.
TEST_F(usage, names_an_unreadable_targets_file) {
  expect_error(run({"table", "--targets", (dir_ / "none.yaml").string(), "--out", out()}),
               HasSubstr("none.yaml"));
  const std::string broken = write("broken.yaml", "mem: [memory\n");
  expect_error(run({"table", "--targets", broken, "--out", out()}), HasSubstr("broken.yaml"));
}

// The result as JSON, and nothing else on stdout.
TEST_F(usage, prints_a_run_as_json) {
  const ended e = run({"run", "contended", "--on", "memory:", "--duration", "200ms", "--format",
                       "json", "--set", "floor=0s", "--require", "p50<1ns", "--out", out()},
                      30s);
  const auto content = nlohmann::json::parse(e.out, nullptr, false);
  ASSERT_TRUE(content.is_object()) << e.out;
  EXPECT_EQ(content, read_json(only_folder(out()) / "run.json"));
  EXPECT_THAT(e.err, HasSubstr("run folder: "));
}

// The preflight alone: what the server is, and what would spoil a run; nothing stays behind.
TEST_F(usage, looks_at_a_target_without_a_load) {
  const ended well = run({"doctor", "memory:"});
  EXPECT_EQ(well.status, 0) << well.err;
  EXPECT_THAT(well.out, HasSubstr("nothing was found that would spoil a run"));
  const local::cluster servers = local::cluster::start("redis");
  const config::target server = *config::parse_target(servers.target());
  const std::string before = state_of(server, dir_.path());
  const ended redis = run({"doctor", servers.target(), "--set", "load.clients=20000"});
  EXPECT_EQ(redis.status, 1) << redis.out << redis.err;
  EXPECT_THAT(redis.out, AllOf(HasSubstr("server.version"), HasSubstr("stops a run: ")));
  EXPECT_EQ(state_of(server, dir_.path()), before);
  expect_error(run({"doctor", "redis://127.0.0.1:1"}), HasSubstr("127.0.0.1:1"));
}

// A table of one's own server needs no file.
TEST_F(usage, makes_a_table_of_a_target_that_is_named) {
  expect_error(run({"table", "--on", "nonsense", "--out", out()}), HasSubstr("--on: "));
  expect_error(run({"table", "--on", "memory:", "--targets", "x.yaml", "--out", out()}),
               HasSubstr("--on and --targets"));
  const ended e = run({"table", "--on", "memory:", "--locks", "memory/lock", "--scenarios",
                       "one_client", "--repeats", "1", "--set", "stop.duration=200ms", "--set",
                       "stop.samples=0", "--set", "warmup=0s", "--quiet", "--out", out()},
                      60s);
  EXPECT_THAT(e.status, testing::AnyOf(0, 3)) << e.err;
  EXPECT_THAT(e.out, HasSubstr("memory/lock"));
}

// `lockmark up` on a port in use: it is named, and nothing stays up.
TEST_F(usage, names_the_port_that_is_taken) {
  const taken_port taken(true);
  const std::string port = std::to_string(taken.number());
  expect_error(run({"up", "redis", "--port", port}), HasSubstr(port));
  EXPECT_THAT(run({"status"}).out, HasSubstr("nothing is up"));
}

// The list as JSON has every lock, with the same contents as the text form.
TEST_F(usage, lists_locks_as_json) {
  const ended e = run({"list", "--format", "json"});
  EXPECT_EQ(e.status, 0) << e.err;
  const auto all = nlohmann::json::parse(e.out, nullptr, false);
  ASSERT_TRUE(all.is_array()) << e.out;
  std::vector<std::string> names;
  for (const auto& lock : all) {
    names.push_back(lock.value("lock", ""));
    for (const char* key : {"summary", "topologies", "features", "safety_class", "options"}) {
      EXPECT_TRUE(lock.contains(key)) << lock;
    }
  }
  EXPECT_THAT(names, IsSupersetOf({"memory/lock", "faulty/lock", "exec/lock", "exec/redisson",
                                   "exec/curator", "exec/node_redlock", "exec/redsync", "exec/etcd",
                                   "exec/shedlock", "exec/go_pglock", "exec/kazoo"}));
  EXPECT_THAT(names, IsSupersetOf(locks_asked_for()));
}

// Patterns of names, and where a lock has to run; what fits nothing is refused.
TEST_F(usage, lists_only_what_is_asked_for) {
  const auto names = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"list", "--format", "json"});
    std::vector<std::string> found;
    for (const auto& lock : nlohmann::json::parse(run(words).out)) found.push_back(lock["lock"]);
    return found;
  };
  EXPECT_THAT(names({"etcd/*", "memory/lock"}),
              testing::UnorderedElementsAre("etcd/mutex", "etcd/lock_service", "etcd/rw",
                                            "etcd/rw_read", "memory/lock"));
  EXPECT_THAT(names({"*redlock", "--on", "redis-independent"}),
              testing::UnorderedElementsAre("redis/redlock", "exec/node_redlock"));
  EXPECT_EQ(names({"--on", "local:redis"}), names({"--on", "redis"}));
  EXPECT_EQ(names({"--on", "redis://127.0.0.1:1"}), names({"--on", "redis"}));
  expect_error(run({"list", "redis/lua", "redis/luaa"}), HasSubstr("did you mean redis/lua?"));
  expect_error(run({"list", "redis/*", "--on", "zookeeper"}),
               HasSubstr("no such lock runs on \"zookeeper\""));
}

// Every required lock is listed, with the topologies it runs on.
TEST_F(usage, lists_where_each_lock_runs) {
  const ended e = run({"list", "--format", "json"});
  std::map<std::string, std::set<std::string>> topologies;
  for (const auto& lock : nlohmann::json::parse(e.out)) {
    topologies[lock["lock"]] = lock["topologies"].get<std::set<std::string>>();
    EXPECT_THAT(lock["wait_mode"], testing::AnyOf("polling", "server-side wait", "conflict"));
  }
  const std::map<std::string, std::set<std::string>> usual{
      {"redis", {"redis", "redis-sentinel", "redis-cluster"}},
      {"zookeeper", {"zookeeper", "zookeeper-3", "zookeeper-5"}},
      {"mysql", {"mysql", "mysql-replicated", "mysql-galera"}},
      {"etcd", {"etcd", "etcd-3", "etcd-5"}}};
  const std::set<std::string> of_several{"redis/redlock", "redis/redisson_red", "redis/sharded"};
  for (const std::string& name : locks_asked_for()) {
    const std::string backend = name.substr(0, name.find('/'));
    if (of_several.contains(name)) {
      std::set<std::string> those{"redis-independent"};
      if (name == "redis/sharded") those.insert("redis-clusters");
      EXPECT_EQ(topologies[name], those) << name;
    } else {
      EXPECT_THAT(topologies[name], IsSupersetOf(usual.at(backend))) << name;
    }
  }
}

using usage_at_server = testing::WithParamInterface<backend>;
class unreachable : public usage, public usage_at_server {};
INSTANTIATE_TEST_SUITE_P(server, unreachable, testing::ValuesIn(backends),
                         [](const auto& p) { return p.param.topology; });

// No listener: an error that names the address, without the password.
TEST_P(unreachable, is_an_error_that_says_where) {
  const taken_port closed(false);
  const ended e = run({"run", "contended", "--on", url_of(GetParam(), closed.number()), "--set",
                       "floor=0s", "--out", out()});
  expect_error(
      e, AllOf(HasSubstr(fmt::format("127.0.0.1:{}", closed.number())), Not(HasSubstr("hunter2"))));
  EXPECT_THAT(files_with(dir_.path(), "hunter2"), IsEmpty());
  expect_readable_folders();
}

// A server that accepts connections and never answers: an error within the deadline.
TEST_P(unreachable, is_also_who_never_answers) {
  const taken_port silent(true);
  const ended e = run({"run", "contended", "--on", url_of(GetParam(), silent.number()), "--set",
                       "floor=0s", "--out", out()});
  expect_error(
      e, AllOf(HasSubstr(fmt::format("127.0.0.1:{}", silent.number())), Not(HasSubstr("hunter2"))));
  expect_readable_folders();
}

}  // namespace
}  // namespace lockmark::cli
