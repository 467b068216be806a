// Secrets planted in the URL, in a password file and in fault commands must not appear in any file
// that lockmark writes, in its output or on a command line; its files are readable by their owner
// only; and on a full disk no incomplete file passes for a complete one.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "deploy/local/cluster.hpp"
#include "harness/config/target.hpp"
#include "program/test_program.hpp"

namespace lockmark::cli {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::AnyOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using words = std::vector<std::string>;

constexpr const char* planted = "pl4ntedSecret";

// Watches the command lines of all processes but this one until it is destroyed. The arguments a
// test passes to lockmark are visible until lockmark itself has hidden them.
class observer {
 public:
  explicit observer(std::string secret) : secret_(std::move(secret)), thread_([this] { look(); }) {}
  observer(const observer&) = delete;
  observer& operator=(const observer&) = delete;
  ~observer() { end(); }

  std::vector<std::string> end() {
    over_ = true;
    if (thread_.joinable()) thread_.join();
    return seen_;
  }

 private:
  void look() {
    while (!over_) {
      for (const auto& entry : fs::directory_iterator("/proc")) {
        if (entry.path().filename().string().find_first_not_of("0123456789") != std::string::npos)
          continue;
        std::ifstream file(entry.path() / "cmdline", std::ios::binary);
        std::ostringstream all;
        all << file.rdbuf();  // nothing, if the process has just ended
        const std::string line = all.str();
        if (line.find(secret_) != line.npos) seen_.push_back(line);
      }
    }
  }

  std::string secret_;
  std::atomic<bool> over_{false};
  std::vector<std::string> seen_;
  std::thread thread_;
};

class leaks : public testing::Test {
 protected:
  leaks() : umask_(umask(0)) {}
  ~leaks() override { umask(umask_); }

  std::string out(std::string_view name) const { return (dir_ / "out" / name).string(); }

  // Input files for lockmark, kept apart from its output.
  std::string input(const std::string& name, const std::string& text) const {
    fs::create_directories(dir_ / "in");
    std::ofstream(dir_ / "in" / name) << text;
    return (dir_ / "in" / name).string();
  }

  std::string job(const std::string& faults) const {
    constexpr const char* load = "keys: own\nwarmup: 0s\nfloor: 0s\nstop: {duration: 400ms}\n";
    return input("job.yaml", fmt::format("{}faults:\n{}", load, faults));
  }

  ended expect_silent(const words& arguments, const std::string& secret) const {
    fs::create_directories(dir_ / "out");
    ended e = run(dir_.path(), arguments, 120s);
    for (const std::string& s : {std::string(planted), secret}) {
      EXPECT_THAT(e.out, Not(HasSubstr(s))) << arguments[0];
      EXPECT_THAT(e.err, Not(HasSubstr(s))) << arguments[0];
      EXPECT_THAT(files_with(dir_ / "out", s), IsEmpty()) << arguments[0];
    }
    return e;
  }

  void expect_private() const {
    int files = 0;
    for (const auto& entry : fs::recursive_directory_iterator(dir_ / "out")) {
      const auto mode = entry.symlink_status().permissions();
      const auto wanted = entry.is_directory() ? fs::perms(0700) : fs::perms(0600);
      EXPECT_EQ(mode, wanted) << entry.path();
      ++files;
    }
    EXPECT_GT(files, 3);
  }

  mode_t umask_;
  scratch dir_;
};

const std::string commands = fmt::format(
    "  - {{do: run, at: 100ms, for: 100ms, command: 'true {0}', undo: 'PW={0} true'}}\n", planted);

TEST_F(leaks, of_runs_and_reports) {
  const local::cluster cluster = local::cluster::start("mysql");
  const config::target right = *config::parse_target(cluster.target());
  const std::string file = job(commands);
  expect_silent({"run", file, "--on", cluster.target(), "--out", out("a"), "--junit", out("a.xml"),
                 "--history", "--set", fmt::format("faults.1.command=true {} again", planted)},
                right.password);
  const std::string kept = input("password", right.password + "\n");
  const std::string by_file = fmt::format("mysql://{}@127.0.0.1:{}/{}?password-file={}", right.user,
                                          right.hosts.at(0).port, right.path, kept);
  expect_silent({"run", file, "--on", by_file, "--out", out("b"), "--set", "participants=1"},
                right.password);
  setenv("LOCKMARK_PLANTED", right.password.c_str(), 1);
  expect_silent({"run", file, "--on",
                 fmt::format("mysql://{}@127.0.0.1:{}/{}?password-env=LOCKMARK_PLANTED", right.user,
                             right.hosts.at(0).port, right.path),
                 "--out", out("c")},
                right.password);
  unsetenv("LOCKMARK_PLANTED");
  EXPECT_TRUE(read_json(only_folder(dir_ / "out" / "c") / "run.json").at("run").at("complete"));
  const std::string first = only_folder(dir_ / "out" / "a").string();
  const std::string second = only_folder(dir_ / "out" / "b").string();
  for (const char* format : {"text", "md", "json", "csv", "junit", "faults"}) {
    const ended e = expect_silent({"report", first, "--format", format}, right.password);
    EXPECT_EQ(e.status, 0) << e.err;
  }
  expect_silent({"report", first, second, "--format", "html", "--out", out("page.html")},
                right.password);
  EXPECT_THAT(read_text(fs::path(first) / "job.yaml"), HasSubstr("true ***"));
  const auto marks = marks_but_stalls(read_json(fs::path(first) / "run.json"));
  EXPECT_EQ(marks.at(0).at("kind"), "run_command");
  // The stored job can be read, and the error states why it cannot be run.
  const ended again = run(dir_.path(), {"run", first + "/job.yaml", "--on", "memory:"});
  EXPECT_EQ(again.status, 2);
  EXPECT_THAT(again.err, HasSubstr("faults.1.command: the command was hidden"));
  expect_private();
}

// The error of a failing command quotes the command.
TEST_F(leaks, of_commands_that_fail) {
  const local::cluster cluster = local::cluster::start("redis");
  const std::string file =
      job(fmt::format("  - {{do: run, at: 50ms, command: 'ls /nowhere/{}'}}\n", planted));
  const ended e =
      expect_silent({"run", file, "--on", cluster.target(), "--out", out("a")}, planted);
  EXPECT_EQ(e.status, 2);
  EXPECT_THAT(e.err, HasSubstr("the command 'ls ***' ended with exit status 2: ls: "));
  expect_private();
}

TEST_F(leaks, of_tables) {
  const local::cluster cluster = local::cluster::start("mysql");
  const config::target right = *config::parse_target(cluster.target());
  const std::string targets = input("targets.yaml", fmt::format("db: '{}'\n", cluster.target()));
  const ended e =
      expect_silent({"table", "--repeats", "1", "--targets", targets, "--locks", "mysql/get_lock",
                     "--scenarios", job(commands), "--out", out("t"), "--junit", out("t.xml"),
                     "--set", "stop.duration=400ms", "--set", "stop.samples=0"},
                    right.password);
  EXPECT_THAT(e.out, HasSubstr("mysql/get_lock")) << e.err;
  EXPECT_TRUE(fs::exists(dir_ / "out/t/table.json"));
  expect_private();
}

// Each of its runs is a process with its own arguments. The metrics compared need few attempts: a
// busy machine makes no more.
TEST_F(leaks, of_the_gate) {
  const local::cluster cluster = local::cluster::start("mysql");
  const config::target right = *config::parse_target(cluster.target());
  const std::string file = job(commands);
  observer of_password(right.password);
  const ended e = expect_silent({"gate", file, "--on", cluster.target(), "--candidate",
                                 fmt::format("hold=0s faults.1.command='true {}'", planted),
                                 "--block", "500ms", "--out", out("g"), "--history", out("h.jsonl"),
                                 "--quiet", "--metrics", "throughput", "--fail", "max>1ns"},
                                right.password);
  for (const std::string& line : of_password.end()) {
    // The test's own command line, visible until lockmark has read it. Read while the process
    // becomes lockmark, it has the beginning of another one.
    EXPECT_THAT(line, HasSubstr(std::string("\0--history\0", 11)));
  }
  EXPECT_THAT(read_text(only_folder(dir_ / "out/g") / "gate.md"), HasSubstr("true ***"))
      << e.status << e.err;
  expect_private();
}

TEST_F(leaks, of_catalogues) {
  const ended faults =
      expect_silent({"faults", "server_killed", "--locks", "redis/set_nx_px", "--topologies",
                     "redis", "--out", out("f"), "--set", "faults.9.do=run", "--set",
                     "faults.9.at=10ms", "--set", fmt::format("faults.9.command=true {}", planted)},
                    planted);
  EXPECT_TRUE(fs::exists(dir_ / "out/f/faults.json")) << faults.err;
  expect_private();
}

// Claims run on lockmark's own servers: here on one already running, whose password is known.
TEST_F(leaks, of_claims) {
  const ended up = run(dir_.path(), {"up", "mysql"});
  ASSERT_EQ(up.status, 0) << up.err;
  const std::string url = up.out.substr(up.out.find("mysql://"));
  const config::target right = *config::parse_target(url.substr(0, url.find_first_of(" \n")));
  expect_silent({"claims", "2b", "--out", out("c")}, right.password);
  run(dir_.path(), {"down", "mysql"});
  const std::string port = fmt::format(":{}", right.hosts.at(0).port);
  EXPECT_THAT(files_with(dir_ / "out", port), Not(IsEmpty())) << "it ran elsewhere";
  EXPECT_TRUE(fs::exists(dir_ / "out/c/claims.md"));
  expect_private();
}

// An unexpected word may be a target with its --on forgotten.
TEST_F(leaks, of_wrong_usage) {
  const words wrong[] = {
      {"run", "contended", "redis://u:pl4ntedSecret@h"},
      {"run", "contended", "--on", "redis://u:pl4ntedSecret@h:x"},
      {"run", "contended", "--on", "u:pl4ntedSecret@h"},
      {"run", "contended", "--on", "redis://h?password-env=pl4ntedSecret"},
      {"run", "contended", "--on", "redis://h?password-file=pl4ntedSecret"},
      {"run", "contended", "--on=exec:/no/such pl4ntedSecret", "--set", "lock=exec/lock"},
      {"run", "contended", "--on", "memory:", "--set", "faults.1.command ssh pl4ntedSecret"},
      {"run", "contended", "--on", "memory:", "--push", "http://u:pl4ntedSecret@h:x"},
      {"gate", "contended", "--candidate", "redis://u:pl4ntedSecret@h"},
  };
  for (const words& w : wrong) EXPECT_EQ(expect_silent(w, planted).status, 2) << w.back();
}

// At any file size limit: one sentence, and every file is complete or named .part.
TEST_F(leaks, a_full_disk_leaves_no_half_of_a_table) {
  const std::string targets = input("targets.yaml", "mem: 'memory:'\n");
  bool table_refused = false;
  for (const int blocks : {2, 8, 16, 24, 64}) {
    const fs::path where = dir_ / fmt::format("out{}", blocks);
    words line = lockmark({"table", "--targets", targets, "--locks", "memory/*", "--scenarios",
                           "contended", "--set", "stop.duration=100ms", "--set", "stop.samples=0",
                           "--set", "warmup=0s", "--set", "floor=0s", "--out", where.string()});
    std::string command = fmt::format("ulimit -f {}; exec", blocks);
    for (const std::string& word : line) command += fmt::format(" '{}'", word);
    program p({"/bin/sh", "-c", command}, dir_.path());
    const ended e = p.wait(60s);
    EXPECT_EQ(e.status, 2) << blocks << ": " << e.err;
    EXPECT_THAT(e.err, HasSubstr("cannot be written: File too large")) << blocks;
    table_refused = table_refused || e.err.find("report.html cannot be written") != e.err.npos;
    if (!fs::exists(where)) continue;
    for (const auto& entry : fs::directory_iterator(where)) {
      const std::string name = entry.path().filename().string();
      EXPECT_FALSE(name.ends_with(".part")) << name;
      if (name.ends_with(".json")) {
        EXPECT_NO_THROW(read_json(entry.path())) << name;
      }
      if (name.ends_with(".md")) {
        EXPECT_TRUE(read_text(entry.path()).ends_with("\n")) << name;
      }
    }
  }
  EXPECT_TRUE(table_refused);
}

}  // namespace
}  // namespace lockmark::cli
