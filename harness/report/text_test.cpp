// Figures as text.
#include "harness/report/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockmark::report {
namespace {

using json = nlohmann::ordered_json;
using testing::ElementsAre;

// Three digits; the next unit if a fourth would be needed.
TEST(text, durations) {
  EXPECT_EQ(duration_text(0), "0 ns");
  EXPECT_EQ(duration_text(853), "853 ns");
  EXPECT_EQ(duration_text(1'000), "1.0 us");
  EXPECT_EQ(duration_text(12'340), "12.3 us");
  EXPECT_EQ(duration_text(999'499), "999 us");
  EXPECT_EQ(duration_text(999'500), "1.0 ms");
  EXPECT_EQ(duration_text(1'234'567), "1.23 ms");
  EXPECT_EQ(duration_text(9'996'000), "10.0 ms");
  EXPECT_EQ(duration_text(99'960'000), "100 ms");
  EXPECT_EQ(duration_text(1'000'000'000), "1.0 s");
  EXPECT_EQ(duration_text(3'600'000'000'000), "3600 s");
}

// A censored time stays censored in a bound row; without a value there is a dash.
TEST(text, times) {
  EXPECT_EQ(time_text(time_value{1'200'000, false}), "1.2 ms");
  EXPECT_EQ(time_text(time_value{1'200'000, false}, true), "<= 1.2 ms");
  EXPECT_EQ(time_text(time_value{1'000'000'000, true}), "> 1.0 s");
  EXPECT_EQ(time_text(time_value{1'000'000'000, true}, true), "> 1.0 s");
  EXPECT_EQ(time_text(std::nullopt, true), "-");
}

// Times of run.json: a number, "> N" or null, and nothing else.
TEST(text, times_of_json) {
  EXPECT_EQ(time_of(json(5)), (time_value{5, false}));
  EXPECT_EQ(time_of(json("> 5")), (time_value{5, true}));
  EXPECT_EQ(time_of(json()), std::nullopt);
  EXPECT_THROW(time_of(json("5")), json::exception);
  EXPECT_THROW(time_of(json("> x")), json::exception);
  EXPECT_THROW(time_of(json(true)), json::exception);
}

// Numbers that do not fit are refused, not converted.
TEST(text, numbers_of_json) {
  EXPECT_EQ(whole_number(json(-5)), -5);
  EXPECT_EQ(whole_count(json(UINT64_MAX)), UINT64_MAX);
  EXPECT_EQ(time_of(json(7.9)), (time_value{7, false}));
  for (const json& wrong : {json(1e300), json(0.5), json("5"), json(), json(UINT64_MAX)}) {
    EXPECT_THROW(whole_number(wrong), json::exception) << wrong;
  }
  for (const json& wrong : {json(1e300), json(-5.5), json(-1), json(true)}) {
    EXPECT_THROW(whole_count(wrong), json::exception) << wrong;
  }
  EXPECT_THROW(time_of(json(1e300)), json::exception);
}

// A success rate just below one must not be rounded to it.
TEST(text, shares) {
  EXPECT_EQ(share_text(0), "0 %");
  EXPECT_EQ(share_text(1), "100 %");
  EXPECT_EQ(share_text(0.999999), ">99.99 %");
  EXPECT_EQ(share_text(0.00001), "<0.01 %");
  EXPECT_EQ(share_text(0.9998), "99.98 %");
  EXPECT_EQ(share_text(0.95), "95.0 %");
}

// Rates keep three digits, or all before the point.
TEST(text, rates) {
  EXPECT_EQ(rate_text(123'456.7), "123457");
  EXPECT_EQ(rate_text(56.78), "56.8");
  EXPECT_EQ(rate_text(1.234), "1.23");
  EXPECT_EQ(rate_text(0), "0.000");
}

// Broken at spaces; text without spaces stays whole.
TEST(text, wraps) {
  EXPECT_THAT(wrapped("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(wrapped("one", 7), ElementsAre("one"));
  EXPECT_THAT(wrapped("", 7), ElementsAre(""));
  EXPECT_THAT(wrapped("incomprehensible a b", 5), ElementsAre("incomprehensible", "a b"));
}

}  // namespace
}  // namespace lockmark::report
