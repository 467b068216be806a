// A short soak of every correct lock on real servers. The long one, with a published result, is
// results/compare/soak.sh itself.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "program/test_program.hpp"

namespace lockmark::cli {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

TEST(soak, of_every_correct_lock_finds_no_violation) {
  const scratch dir;
  const fs::path bin = fs::path(LOCKMARK_BINARY).parent_path();
  program all({"/usr/bin/env", "CHANGES=1000", fmt::format("LOCKMARK_BIN={}", bin.string()),
               "/bin/bash", LOCKMARK_SOURCE "/results/compare/soak.sh"},
              dir.path());
  const ended e = all.wait(280s);
  EXPECT_EQ(e.status, 0) << e.out << e.err;
  // Lock, servers, owner changes, chances, violations, lost updates.
  const std::regex row(R"(\| (redis|zookeeper|mysql)/\w+ \| [a-z-]+ \| [1-9]\d{3,} )"
                       R"(\| [1-9]\d* \| 0 \| 0 \|)");
  const auto begin = std::sregex_iterator(e.out.begin(), e.out.end(), row);
  EXPECT_EQ(std::distance(begin, std::sregex_iterator()), 21) << e.out;
}

TEST(soak, of_a_broken_lock_fails) {
  const scratch dir;
  const ended e =
      run(dir.path(), {"run", "soak", "--on", "memory:", "--set", "lock=faulty/lock", "--set",
                       "options.two_holders=20", "--set", "stop.owner_changes=1000", "--quiet"});
  EXPECT_EQ(e.status, 1) << e.out << e.err;
  EXPECT_THAT(e.out, testing::HasSubstr("NOT HELD"));
}

}  // namespace
}  // namespace lockmark::cli
