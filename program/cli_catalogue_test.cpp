// The catalogue of faults and the claims from a user's view, on a real Redis.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "program/test_program.hpp"

namespace lockmark::cli {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class catalogue_of_faults : public testing::Test {
 protected:
  ended faults(std::vector<std::string> words) {
    words.insert(words.begin(), "faults");
    words.insert(words.end(),
                 {"--quiet", "--out", (dir_ / "out").string(), "--set", "stop.duration=4s"});
    return run(dir_.path(), words, 60s);
  }
  nlohmann::json cells() { return read_json(dir_ / "out/faults.json"); }

  scratch dir_;
};

// Without a name the command only lists the scenarios; it must not start an hour of faults.
TEST_F(catalogue_of_faults, is_told_to_who_names_none) {
  const ended e = faults({});
  EXPECT_EQ(e.status, 0) << e.err;
  EXPECT_THAT(e.out, AllOf(HasSubstr("holder_killed\n"), HasSubstr("redlock_clock_jump\n"),
                           HasSubstr("Three of five believe")));
  EXPECT_FALSE(std::filesystem::exists(dir_ / "out"));
}

TEST_F(catalogue_of_faults, refuses_what_it_does_not_have) {
  const ended unknown = faults({"holder_killed", "holder_kiled"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, AllOf(HasSubstr("\"holder_kiled\""), HasSubstr("holder_killed")));
  const ended nowhere = faults({"redlock_even", "--locks", "redis/setnx"});
  EXPECT_EQ(nowhere.status, 2);
  EXPECT_THAT(nowhere.err, HasSubstr("no lock and topology of these scenarios"));
}

TEST_F(catalogue_of_faults, finds_a_leased_lock_safe_when_its_holder_dies) {
  const ended e = faults({"holder_killed", "--locks", "redis/set_nx_px"});
  EXPECT_EQ(e.status, 0) << e.out << e.err;
  EXPECT_THAT(e.out, HasSubstr("| redis/set_nx_px | redis | safe, "));
  ASSERT_EQ(cells().size(), 1U);
  EXPECT_EQ(cells()[0].at("violated"), 0);
  EXPECT_THAT(cells()[0].at("theory").get<std::string>(), HasSubstr("the rest of the lease of 2s"));
  EXPECT_GT(cells()[0].at("recoveries_ns")[0], 1'000'000'000);
}

// Each repetition has its own seed. The stored run folders yield the same matrix.
TEST_F(catalogue_of_faults, finds_a_lease_too_short_violated) {
  const ended e = faults({"work_outlives_lease", "--locks", "redis/lua", "--repeat", "2"});
  EXPECT_EQ(e.status, 1) << e.out << e.err;
  EXPECT_THAT(e.out, HasSubstr("| redis/lua | redis | **2/2 violated**"));
  std::vector<std::string> words;
  std::vector<int> seeds;
  for (const auto& entry : std::filesystem::directory_iterator(dir_ / "out")) {
    if (!entry.is_directory()) continue;
    words.push_back(entry.path().string());
    seeds.push_back(read_json(entry.path() / "run.json").at("run").at("seed").get<int>());
  }
  EXPECT_THAT(seeds, testing::UnorderedElementsAre(1, 2));
  std::ranges::sort(words);
  words.insert(words.begin(), {"report", "--format", "faults"});
  const ended again = run(dir_.path(), words);
  EXPECT_EQ(again.out, e.out) << again.err;
}

TEST(claims, are_listed_with_what_is_predicted) {
  const scratch dir;
  const ended e = run(dir.path(), {"claims", "3", "--list"});
  EXPECT_EQ(e.status, 0) << e.err;
  EXPECT_THAT(e.out, AllOf(StartsWith("3a "), HasSubstr("\n3b "), HasSubstr("predicted: ")));
  EXPECT_EQ(run(dir.path(), {"claims", "99"}).status, 2);
}

// One claim from prediction to verdict; the others differ in their experiments only.
TEST(claims, are_put_to_the_test) {
  const scratch dir;
  const std::string out = (dir / "out").string();
  const ended e = run(dir.path(), {"claims", "3a", "--quiet", "--out", out}, 120s);
  EXPECT_EQ(e.status, 0) << e.err;
  EXPECT_THAT(e.out, AllOf(HasSubstr("**confirmed**"), HasSubstr("lockmark claims 3a`")));
  EXPECT_EQ(read_text(dir / "out/claims.md"), e.out);
}

// Trials that cannot be made are told one by one; the claims are judged by those that could be.
TEST(claims, go_on_where_servers_do_not_start) {
  const scratch dir;
  const std::string out = (dir / "out").string();
  const std::string programs = std::getenv("PATH");
  setenv("PATH", dir.path().c_str(), 1);
  const ended e = run(dir.path(), {"claims", "3a", "3b", "--quiet", "--out", out});
  setenv("PATH", programs.c_str(), 1);
  EXPECT_EQ(e.status, 2) << e.out;
  EXPECT_THAT(e.err, AllOf(HasSubstr("lockmark: claim 3a: "), HasSubstr("lockmark: claim 3b: "),
                           HasSubstr("redis-server was found neither in PATH")));
  EXPECT_THAT(e.out, AllOf(HasSubstr("### 3a. "), HasSubstr("### 3b. "),
                           HasSubstr("**inconclusive** by 0 runs of each experiment")));
  EXPECT_EQ(read_text(dir / "out/claims.md"), e.out);
}

}  // namespace
}  // namespace lockmark::cli
