#include "harness/report/language.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/run/validity.hpp"

namespace lockmark::report {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(language, numbers_keep_their_places) {
  const message throttled{"throttled", {"3"}};
  EXPECT_EQ(text_of(throttled, language::chinese), "CPU 配额使压测程序停顿 3 次");
  EXPECT_EQ(text_of(throttled), "the CPU quota stopped the harness 3 times");
  EXPECT_EQ(text_of({"of_a_newer_lockmark", {"3", "4"}}, language::chinese), "3 4");
  EXPECT_EQ(text_of("a sentence with {}", language::chinese), "a sentence with {}");
  EXPECT_EQ(translated("yes", language::chinese), "是");
  EXPECT_EQ(translated("redis/setnx", language::chinese), "redis/setnx");
}

// Every reason is in the table of messages, with its gaps filled in both languages.
TEST(language, every_reason_of_the_verdict_is_translated) {
  run::self_measurement m;
  m.busiest_worker = m.process_cpu = 0.99;
  m.timer_lag_p99_ns = 900'000'000;
  m.reported_p99_ns = 1;
  m.hiccup_p999_ns = 900'000'000;
  m.steal = 0.5;
  m.times_throttled = 3;
  m.pipe_p99_ns = 900'000'000;
  m.littles_law_fails = m.debug_build = m.pipe_unknown = true;
  std::vector<message> reasons = run::judge(m).reasons;
  m = {};
  m.closed_loop = false;
  m.offered_per_s = 100;
  m.achieved_per_s = 10;
  m.floor_rate_per_s = 50;
  for (const auto& more : run::judge(m).reasons) reasons.push_back(more);
  m.dropped = 5;
  for (const auto& more : run::judge(m).reasons) reasons.push_back(more);
  ASSERT_GE(reasons.size(), 13u);
  for (const message& r : reasons) {
    const std::string english = text_of(r), chinese = text_of(r, language::chinese);
    EXPECT_NE(chinese, english);
    for (const std::string& text : {english, chinese}) {
      EXPECT_THAT(text, Not(HasSubstr("{}"))) << r.id;
      for (const std::string& value : r.values) EXPECT_THAT(text, HasSubstr(value));
    }
  }
}

TEST(language, chinese_characters_take_two_columns) {
  EXPECT_EQ(display_width("lock"), 4u);
  EXPECT_EQ(display_width("锁 p50"), 6u);
}

}  // namespace
}  // namespace lockmark::report
