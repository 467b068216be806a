// A real Redis starts to refuse during a run of the whole program: the run ends at once, quotes
// Redis's error, and leaves a readable folder with what was measured. (The same with deliberately
// failing drivers, call by call: harness/run/broken_driver_test.cpp.)
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "deploy/local/cluster.hpp"
#include "program/test_servers.hpp"

namespace lockmark::cli {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

// The run would last a minute, but ends within a fraction of a second after the cause. This tells
// that apart from a run that never ends or only at its time.
constexpr const char* a_minute_long = "stop.duration=1m";
constexpr duration ends_within = 20s;

using words = std::vector<std::string>;

struct cause {
  const char* name;
  const char* lock;
  std::vector<words> breaks;  // commands to Redis
  const char* answer;         // Redis's error from then on
  bool lets_wipe;             // Redis still accepts the run's DEL
  const char* more = "participants=0";
};

void PrintTo(const cause& c, std::ostream* out) {
  *out << c.name;
}

class redis_causes : public testing::TestWithParam<cause> {
 protected:
  redis_causes() {
    cli({"ACL", "SETUSER", "tester", "on", ">first", "~*", "&*", "+@all"});
    cli({"CONFIG", "SET", "save", "3600 1"});
  }
  // With unsaved data and no place to save it, Redis would not exit.
  ~redis_causes() override { cli({"CONFIG", "SET", "save", ""}); }

  int port() const { return redis_.servers().front().port; }

  std::string cli(words arguments) const {
    words all{"redis-cli", "-p", fmt::format("{}", port())};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return output_of(std::move(all), dir_.path());
  }

  // "$DATA" is Redis's data folder.
  void break_it() const {
    for (const words& command : GetParam().breaks) {
      if (command.front() != "mkdir") {
        cli(command);
        continue;
      }
      const std::string said = cli({"CONFIG", "GET", "dir"});  // dir, and its value
      const std::string data = said.substr(said.find('\n') + 1);
      fs::create_directory(fs::path(data.substr(0, data.find('\n'))) / command.back());
    }
  }

  void expect_whole_folder(const fs::path& folder) const {
    EXPECT_EQ(read_json(folder / "run.json")["run"]["status"], "failed");
    EXPECT_EQ(read_json(folder / "run.json")["run"]["complete"], false);
    EXPECT_GT(read_json(folder / "run.json")["counts"]["granted"], 0);
    for (const auto& file : fs::directory_iterator(folder)) {
      EXPECT_NE(file.path().extension(), ".part") << file.path();
    }
    const ended told = run(dir_.path(), {"report", folder.string()});
    EXPECT_EQ(told.status, 0) << told.err;
    EXPECT_THAT(told.out, HasSubstr(GetParam().answer));
  }

  scratch dir_;
  const local::cluster redis_ = local::cluster::start("redis");
};

TEST_P(redis_causes, end_a_run_at_once) {
  const cause& c = GetParam();
  program p(lockmark({"run",   "contended",
                      "--on",  fmt::format("redis://tester:first@127.0.0.1:{}", port()),
                      "--out", (dir_ / "runs").string(),
                      "--set", fmt::format("lock={}", c.lock),
                      "--set", a_minute_long,
                      "--set", "stop.at_most=1m",
                      "--set", "stop.samples=0",
                      "--set", "warmup=100ms",
                      "--set", "floor=0s",
                      "--set", c.more}),
            dir_.path());
  ASSERT_TRUE(p.says("measuring", 2)) << p.err();
  break_it();
  const time_point broken = real_clock{}.now();
  const ended e = p.wait(ends_within);
  RecordProperty("ended_after_ms", fmt::format("{}", (real_clock{}.now() - broken) / 1ms));
  EXPECT_EQ(e.status, 2) << e.out << e.err;
  const std::string said = without_progress(e.err);
  EXPECT_THAT(said, is_one_sentence());
  EXPECT_THAT(said, HasSubstr(fmt::format("redis://127.0.0.1:{}", port())));
  EXPECT_THAT(said, HasSubstr(c.answer));
  EXPECT_THAT(said, Not(HasSubstr("first")));
  expect_whole_folder(only_folder(dir_ / "runs"));
  if (c.lets_wipe) {
    EXPECT_THAT(cli({"KEYS", "*lockmark*"}), Not(HasSubstr("lockmark")));
  }
}

const std::vector<words> out_of_memory = {{"CONFIG", "SET", "maxmemory", "1"}};
// Nothing listens on port 1.
const std::vector<words> demoted = {{"REPLICAOF", "127.0.0.1", "1"}};
// Its file is a folder, so that saving fails.
const std::vector<words> cannot_save = {{"mkdir", "dump.rdb"}, {"BGSAVE"}};
const std::vector<words> without_scripts = {{"ACL", "SETUSER", "tester", "-evalsha", "-eval"}};
const std::vector<words> without_channels = {{"ACL", "SETUSER", "tester", "resetchannels"}};
const std::vector<words> other_password = {{"ACL", "SETUSER", "tester", "resetpass", ">second"},
                                           {"CLIENT", "KILL", "USER", "tester"}};

INSTANTIATE_TEST_SUITE_P(
    each, redis_causes,
    testing::Values(
        cause{"out_of_memory", "redis/lua", out_of_memory, "OOM ", true},
        cause{"out_of_memory_for_a_script", "redis/redisson", out_of_memory, "OOM ", true},
        cause{"out_of_memory_for_participants", "redis/lua", out_of_memory, "OOM ", true,
              "participants=2"},
        cause{"read_only_after_a_demotion", "redis/lua", demoted, "READONLY ", false},
        cause{"nothing_can_be_saved", "redis/set_nx_px", cannot_save, "MISCONF ", false},
        cause{"scripts_are_forbidden", "redis/lua", without_scripts, "NOPERM ", true},
        // From the publishing script or from SUBSCRIBE, whichever comes first.
        cause{"channels_are_forbidden", "redis/redisson", without_channels, " channel", true},
        cause{"another_password", "redis/lua", other_password, "WRONGPASS ", false},
        cause{"another_password_for_participants", "redis/lua", other_password, "WRONGPASS ", false,
              "participants=2"}),
    [](const auto& with) { return std::string{with.param.name}; });

}  // namespace
}  // namespace lockmark::cli
