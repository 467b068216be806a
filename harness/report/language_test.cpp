#include "harness/report/language.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/run/validity.hpp"

namespace lockmark::report {
namespace {

TEST(language, numbers_keep_their_places) {
  EXPECT_EQ(translated("the CPU quota stopped the harness 3 times", language::chinese),
            "CPU 配额使压测程序停顿 3 次");
  EXPECT_EQ(translated("the CPU quota stopped the harness 3 times", language::english),
            "the CPU quota stopped the harness 3 times");
  EXPECT_EQ(translated("yes", language::chinese), "是");
  EXPECT_EQ(translated("redis/setnx", language::chinese), "redis/setnx");
}

// A reworded reason needs a new translation.
TEST(language, every_reason_of_the_verdict_is_translated) {
  run::self_measurement m;
  m.busiest_worker = m.process_cpu = 0.99;
  m.timer_lag_p99_ns = 900'000'000;
  m.reported_p99_ns = 1;
  m.hiccup_p999_ns = 900'000'000;
  m.steal = 0.5;
  m.times_throttled = 3;
  m.littles_law_fails = m.debug_build = true;
  std::vector<std::string> reasons = run::judge(m).reasons;
  m = {};
  m.closed_loop = false;
  m.offered_per_s = 100;
  m.achieved_per_s = 10;
  m.floor_rate_per_s = 50;
  for (const auto& more : run::judge(m).reasons) reasons.push_back(more);
  m.dropped = 5;
  for (const auto& more : run::judge(m).reasons) reasons.push_back(more);
  ASSERT_GE(reasons.size(), 11u);
  for (const std::string& r : reasons) EXPECT_NE(translated(r, language::chinese), r) << r;
}

TEST(language, chinese_characters_take_two_columns) {
  EXPECT_EQ(display_width("lock"), 4u);
  EXPECT_EQ(display_width("锁 p50"), 6u);
}

}  // namespace
}  // namespace lockmark::report
