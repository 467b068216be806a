// Real clients and our locks must exclude each other: every pair below, on real servers, with the
// driver contract on both sides. Needs the clients of deploy/interop: ./check --interop.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "deploy/local/cluster.hpp"
#include "drivers/etcd/etcd.hpp"
#include "drivers/exec/driver.hpp"
#include "drivers/exec/duel.hpp"
#include "drivers/exec/exec.hpp"
#include "drivers/exec/pairs.hpp"
#include "drivers/exec/readme.hpp"
#include "drivers/exec/tournament.hpp"
#include "drivers/mysql/mysql.hpp"
#include "drivers/postgres/postgres.hpp"
#include "drivers/redis/redis.hpp"
#include "drivers/zookeeper/zookeeper.hpp"

namespace lockmark::exec {
namespace {

using namespace std::chrono_literals;

constexpr duration mixed_time = 60s;

using servers = std::map<std::string, local::cluster, std::less<>>;

// Those of this process; started by main before any thread exists.
servers& running() {
  static servers all;
  return all;
}

std::vector<lock_kind> all_locks() {
  std::vector<lock_kind> all;
  for (const auto& table : {kinds(), redis::kinds(), zookeeper::kinds(), etcd::kinds(),
                            mysql::kinds(), postgres::kinds()}) {
    all.insert(all.end(), table.begin(), table.end());
  }
  return all;
}

side side_of(const player& p, std::string_view topology) {
  side s{.target = running().find(topology)->second.target()};
  for (const lock_kind& k : all_locks()) {
    if (k.name == p.lock) s.kind = k;
  }
  if (s.kind.make == nullptr) throw std::logic_error(fmt::format("no lock {}", p.lock));
  for (std::string_view rest = p.options; !rest.empty();) {
    const auto end = std::min(rest.find(' '), rest.size());
    const auto word = rest.substr(0, end);
    const auto is = word.find('=');
    s.options[std::string{word.substr(0, is)}] = word.substr(is + 1);
    rest.remove_prefix(std::min(rest.size(), end + 1));
  }
  return s;
}

duel duel_of(const pair& p) {
  return {side_of(p.real, p.topology), side_of(p.ours, p.topology), p.are};
}

std::string name_of(const player& p) {
  return p.options.empty() ? std::string{p.lock} : fmt::format("{}({})", p.lock, p.options);
}
std::string name_of(const pair& p) {
  const auto place = p.topology.find('-') == p.topology.npos ? "" : fmt::format("@{}", p.topology);
  return fmt::format("{}~{}{}", name_of(p.real), name_of(p.ours), place);
}

class round_test final : public testing::Test {
 public:
  using rounds = match<std::vector<finding_of_duel>>;
  round_test(std::shared_ptr<rounds> f, std::string round)
      : fight_(std::move(f)), round_(std::move(round)) {}

  void TestBody() override {
    for (const auto& f : fight_->result()) {
      if (f.name != round_) continue;
      EXPECT_EQ(f.failure, "");
      return;
    }
    FAIL() << "was not played";
  }

 private:
  std::shared_ptr<rounds> fight_;
  std::string round_;
};

class mixed_test final : public testing::Test {
 public:
  using crowded = match<crowd_result>;
  explicit mixed_test(std::shared_ptr<crowded> m) : mixed_(std::move(m)) {}

  void TestBody() override {
    const crowd_result r = mixed_->result();
    const auto numbers =
        fmt::format("real {}, ours {}, doubts {}", r.real_grants, r.our_grants, r.doubts);
    RecordProperty("grants", numbers);
    EXPECT_GT(r.real_grants, 0U) << numbers;
    EXPECT_GT(r.our_grants, 0U) << numbers;
    EXPECT_EQ(r.overlaps, 0U) << numbers;
    EXPECT_EQ(r.lost_holds, 0U) << numbers;
  }

 private:
  std::shared_ptr<crowded> mixed_;
};

void add_fight(const std::string& suite, const duel& d) {
  const auto once = std::make_shared<round_test::rounds>(suite, [d] { return fight(d); });
  for (const std::string& round : rounds_of(d)) {
    testing::RegisterTest(
        suite.c_str(), round.c_str(), nullptr, nullptr, __FILE__, __LINE__,
        [once, round]() -> testing::Test* { return new round_test(once, round); });
  }
}

void add_mixed(const std::string& suite, const duel& d) {
  const auto once =
      std::make_shared<mixed_test::crowded>(suite, [d] { return mix(d, {.time = mixed_time}); });
  testing::RegisterTest(suite.c_str(), "mixed", nullptr, nullptr, __FILE__, __LINE__,
                        [once]() -> testing::Test* { return new mixed_test(once); });
}

// The rounds of a duel that failed.
std::vector<std::string> lost_rounds(const duel& d, const std::vector<std::string>& only) {
  std::vector<std::string> lost;
  for (const auto& f : fight(d, only)) {
    if (!f.failure.empty()) lost.push_back(f.name);
  }
  return lost;
}

// The suite must be able to fail: pairs known to be incompatible.
void another_key_is_noticed() {
  duel d = duel_of(pairs[0]);
  d.ours.run_suffix = "x";
  const std::vector<std::string> rounds{"real_holds", "ours_holds", "ours_takes_over"};
  EXPECT_EQ(lost_rounds(d, rounds), rounds);
}

// Redisson's spin lock shares the key of its RLock, but announces no release.
void a_silent_release_is_noticed() {
  const duel d = duel_of({"redis", {"exec/redisson", "kind=spin"}, {"redis/redisson"}});
  const std::vector<std::string> lost{"ours_takes_over"};
  EXPECT_EQ(lost_rounds(d, {"real_holds", "ours_holds", "real_takes_over", lost[0]}), lost);
}

// Curator, like our lock, sorts nodes with kazoo's default names behind all others. kazoo itself is
// configured to count our nodes.
void a_queue_of_other_nodes_is_noticed() {
  const duel d = duel_of({"zookeeper", {"exec/kazoo", "nodes=kazoo"}, {"zookeeper/sequential"}});
  const std::vector<std::string> lost{"real_holds"};
  EXPECT_EQ(lost_rounds(d, {lost[0], "ours_holds"}), lost);
}

// Holds that outlast the requests of a JVM on a busy machine: a second grant falls into one.
constexpr crowd until_overlap{
    .sessions = 1, .clients = 4, .time = mixed_time, .hold = 200ms, .until_overlap = true};

void a_crowd_on_two_keys_overlaps() {
  duel d = duel_of(mixed_pairs[0]);
  d.ours.kind = side_of({"redis/set_nx_px"}, "redis").kind;
  d.ours.options.clear();
  d.ours.run_suffix = "x";
  EXPECT_GT(mix(d, until_overlap).overlaps, 0U);
}

// Up to 5.4, whoever downgrades lets in the next writer that waits: of either side, and both ways.
void a_downgrade_of_5_4_overlaps() {
  const player real{"exec/curator", "kind=downgraded"};
  const player real_5_4{"exec/curator_5.4", "kind=downgraded"};
  const player ours{"zookeeper/write", "hold=downgraded"};
  const player ours_5_4{"zookeeper/write", "hold=downgraded_5.4"};
  EXPECT_GT(mix(duel_of({"zookeeper", real_5_4, ours}), until_overlap).overlaps, 0U);
  EXPECT_GT(mix(duel_of({"zookeeper", real, ours_5_4}), until_overlap).overlaps, 0U);
}

// The Java program of README.md ------------------------------------------------------------------

std::vector<std::string>& java_adapter() {
  static std::vector<std::string> command;
  return command;
}

std::unique_ptr<driver> make_java(const driver_setup& setup) {
  return make_driver(setup, {"exec/lock", java_adapter(), {"redis"}, feature::lease});
}

void the_java_adapter_of_the_readme_is_redisson() {
  const readme_program program{"java", "RedissonLock.java"};
  EXPECT_LT(program.lines(), 60);
  const std::string libraries =
      find_adapter("redisson").substr(0, find_adapter("redisson").rfind('/'));
  const std::string path = fmt::format("{}/lib/*:{}", libraries, program.folder());
  ASSERT_EQ(std::system(fmt::format("javac -cp '{}' {}", path, program.path()).c_str()), 0);
  java_adapter() = {"java", "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                    "-cp",  path,       "RedissonLock"};
  duel d = duel_of(pairs[0]);
  d.real.kind.make = make_java;
  EXPECT_EQ(lost_rounds(d, rounds_of(d)), std::vector<std::string>{});
}

TEST(Readme, ThePythonAdapterIsShort) {
  EXPECT_LT(readme_program("python", "adapter.py").lines(), 60);
}

// Duels begin at the same moment: two of one name were on the same keys.
TEST(Runs, HaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (int n = 0; n < 1000; ++n) names.insert(name_of_run());
  EXPECT_EQ(names.size(), 1000U);
}

// Tests other than duels of two locks, and the real client that each needs.
struct proof {
  const char* name;
  std::string_view client;
  void (*prove)();
};

constexpr proof proofs[] = {
    {"AnotherKeyIsNoticed", "exec/redisson", another_key_is_noticed},
    {"ASilentReleaseIsNoticed", "exec/redisson", a_silent_release_is_noticed},
    {"AQueueOfOtherNodesIsNoticed", "exec/kazoo", a_queue_of_other_nodes_is_noticed},
    {"ACrowdOnTwoKeysOverlaps", "exec/redisson", a_crowd_on_two_keys_overlaps},
    {"ADowngradeOf54Overlaps", "exec/curator_5.4", a_downgrade_of_5_4_overlaps},
    {"TheJavaAdapterOfTheReadmeIsRedisson", "exec/redisson",
     the_java_adapter_of_the_readme_is_redisson},
};

class proof_test final : public testing::Test {
 public:
  explicit proof_test(const proof& p) : proof_(p) {}
  void TestBody() override { proof_.prove(); }

 private:
  const proof& proof_;
};

// A client that could not be fetched is one failure with its reason; the others are still tested.
class missing_client final : public testing::Test {
 public:
  explicit missing_client(std::string why) : why_(std::move(why)) {}
  void TestBody() override { FAIL() << why_; }

 private:
  std::string why_;
};

// The last line of output from fetching and building the client.
std::string last_words(std::string_view client) {
  std::ifstream log(fmt::format("build/interop/logs/{}", client));
  std::string last, line;
  while (std::getline(log, line)) {
    if (!line.empty()) last = line;
  }
  return last.empty() ? "it was never tried" : last;
}

bool is_there(std::string_view lock) {
  static std::map<std::string_view, bool> asked;
  const auto [at, is_new] = asked.try_emplace(lock, true);
  if (!is_new) return at->second;
  const std::string_view client = lock.substr(lock.find('/') + 1);
  try {
    find_adapter(client);
  } catch (const std::exception& e) {
    at->second = false;
    testing::RegisterTest(
        std::string{lock}.c_str(), "is_there", nullptr, nullptr, __FILE__, __LINE__,
        [why = fmt::format("{}: {}", e.what(), last_words(client))]() -> testing::Test* {
          return new missing_client(why);
        });
  }
  return at->second;
}

void add_all() {
  for (const pair& p : mixed_pairs) {
    if (is_there(p.real.lock)) add_mixed(name_of(p) + ":mixed", duel_of(p));
  }
  for (const pair& p : pairs) {
    if (is_there(p.real.lock)) add_fight(name_of(p), duel_of(p));
  }
  for (const proof& p : proofs) {
    if (!is_there(p.client)) continue;
    testing::RegisterTest("Proof", p.name, nullptr, nullptr, __FILE__, __LINE__,
                          [&p]() -> testing::Test* { return new proof_test(p); });
  }
}

}  // namespace
}  // namespace lockmark::exec

int main(int argc, char** argv) {
  using namespace lockmark;
  testing::InitGoogleTest(&argc, argv);
  // Starts sooner; the cost at run time is not measured here.
  setenv("LOCKMARK_JAVA_OPTIONS", "-Xmx128m -XX:+UseSerialGC -XX:TieredStopAtLevel=1", 0);
  for (const char* topology : exec::topologies) {
    exec::running().emplace(topology, local::cluster::start(topology));
  }
  exec::add_all();
  testing::AddGlobalTestEnvironment(new exec::season{exec::all_matches()});
  const int result = RUN_ALL_TESTS();
  exec::running().clear();
  return result;
}
