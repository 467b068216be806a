#include "deploy/local/registry.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "deploy/local/test_support.hpp"

namespace lockmark::local {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
namespace fs = std::filesystem;

class by_hand : public testing::Test {
 protected:
  by_hand() {
    std::string name = testing::TempDir() + "lockmark-test-XXXXXX";
    own_ = mkdtemp(name.data());
  }
  ~by_hand() override {
    registry{state()}.down();
    fs::remove_all(own_);
  }
  fs::path state() const { return own_ / "state"; }
  std::string file() const { return state() / "redis.json"; }

  fs::path own_;
};

std::string complaint(const std::function<void()>& action) {
  try {
    action();
  } catch (const start_error& error) {
    return error.what();
  }
  return "none";
}

// Up, status, down; and each of them again with nothing to do.
TEST_F(by_hand, goes_up_and_down) {
  registry clusters{state()};
  EXPECT_THAT(clusters.status(), IsEmpty());
  const cluster_info redis = clusters.up("redis");
  ASSERT_THAT(clusters.status(), SizeIs(1));
  EXPECT_EQ(clusters.status()[0].target, redis.target);
  EXPECT_GT(clusters.status()[0].servers.at(0).pid, 0);
  EXPECT_TRUE(answers(redis_probe(), redis.servers.at(0).port, 1s));
  EXPECT_EQ(complaint([&] { clusters.up("redis"); }),
            fmt::format("redis is already up at {}; take it down first, or use it", redis.target));

  EXPECT_THAT(clusters.down("redis"), SizeIs(1));
  EXPECT_TRUE(is_gone(redis));
  EXPECT_FALSE(fs::exists(file()));
  EXPECT_EQ(complaint([&] { clusters.down("redis"); }), "redis is not up");
  EXPECT_THAT(clusters.down(), IsEmpty());
}

// The cluster outlives the command that started it, and holds none of its streams: the command's
// output pipe closes when the command ends.
TEST_F(by_hand, outlives_the_command) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t command = fork();
  if (command == 0) {
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    registry{state()}.up("redis");
    _exit(0);
  }
  close(ends[1]);
  char bytes[256];
  while (read(ends[0], bytes, sizeof bytes) > 0) continue;
  close(ends[0]);
  waitpid(command, nullptr, 0);

  const std::vector<cluster_info> up = registry{state()}.status();
  ASSERT_THAT(up, SizeIs(1));
  EXPECT_TRUE(answers(redis_probe(), up[0].servers.at(0).port, 1s));
}

// A dead server shows as dead; the cluster can still be taken down.
TEST_F(by_hand, shows_a_dead_server) {
  registry clusters{state()};
  const cluster_info redis = clusters.up("redis");
  kill(redis.servers.at(0).pid, SIGKILL);
  EXPECT_TRUE(eventually([&] { return clusters.status().at(0).servers.at(0).pid == 0; }));
  clusters.down();
  EXPECT_TRUE(is_gone(redis));
}

// After a keeper was killed its record is stale, and so is its directory; the topology can be
// started again.
TEST_F(by_hand, forgets_what_is_gone) {
  registry clusters{state()};
  const cluster_info redis = clusters.up("redis");
  kill(redis.keeper, SIGKILL);
  EXPECT_TRUE(eventually([&] { return clusters.status().empty(); }));
  EXPECT_TRUE(eventually([&] { return is_gone(redis); }));
  EXPECT_FALSE(fs::exists(file()));
  clusters.up("redis");
}

// A broken record stops no cluster and prevents nothing.
TEST_F(by_hand, survives_a_broken_record) {
  registry clusters{state()};
  std::ofstream(file()) << "{\"keeper\": 1";
  EXPECT_THAT(clusters.status(), IsEmpty());
  EXPECT_FALSE(fs::exists(file()));
}

// What is up is what records say, also of servers that no table knows, such as those of a version.
TEST_F(by_hand, finds_every_record) {
  registry clusters{state()};
  cluster_info redis = clusters.up("redis");
  fs::remove(file());
  redis.topology = "redis@8.0";
  std::ofstream(state() / "redis@8.0.json") << to_json(redis);
  ASSERT_THAT(clusters.status(), SizeIs(1));
  EXPECT_EQ(clusters.status()[0].topology, "redis@8.0");
  EXPECT_THAT(clusters.down("redis@8.0"), SizeIs(1));
  EXPECT_TRUE(is_gone(redis));
  EXPECT_FALSE(fs::exists(state() / "redis@8.0.json"));
}

// Records contain passwords: only their owner may read them.
TEST_F(by_hand, keeps_its_records_to_itself) {
  registry clusters{state()};
  clusters.up("redis");
  EXPECT_EQ(fs::status(state()).permissions(), fs::perms::owner_all);
  EXPECT_EQ(fs::status(file()).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  fs::permissions(own_, fs::perms::all);
  EXPECT_THAT(complaint([&] { registry{own_}; }),
              HasSubstr("must be a directory that only its owner, this user, can open"));
}

// The default is the user's runtime directory, else one in /tmp with the user's number.
TEST(default_directory, follows_the_environment) {
  setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
  EXPECT_EQ(registry::default_directory(), "/run/user/7/lockmark");
  unsetenv("XDG_RUNTIME_DIR");
  EXPECT_EQ(registry::default_directory(), fmt::format("/tmp/lockmark-{}", geteuid()));
}

}  // namespace
}  // namespace lockmark::local
