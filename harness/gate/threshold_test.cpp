// --fail: its syntax, its verdict on a run, and when a run is given up.
#include "harness/gate/threshold.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/errors.hpp"
#include "harness/run/result_json.hpp"
#include "harness/run/sample_result.hpp"

namespace lockmark::gate {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using comparison = threshold::comparison;

threshold of(std::string_view text) {
  return *parse_threshold(text);
}

report::recorded_run with_p99(const nlohmann::ordered_json& value, bool supported = true) {
  report::recorded_run run{"first", run::to_json(run::sample_run{}.r)};
  for (auto& entry : run.content["quantiles"]["response"]["quantiles"]) {
    if (entry["q"] != 0.99) continue;
    entry["supported"] = supported;
    entry["value_ns"] = value;
  }
  return run;
}

TEST(threshold, is_a_figure_an_operator_and_a_value) {
  EXPECT_EQ(of("p99>20ms").limit, 20e6);
  EXPECT_EQ(of("p99 > 20ms").text, "p99>20ms");
  EXPECT_EQ(of("p99.9>=1s").figure, "p99.9");
  EXPECT_EQ(of("p99.9>=1s").fails_if, comparison::at_least);
  EXPECT_EQ(of("tps<100/s").limit, 100);
  EXPECT_EQ(of("tps<=100").fails_if, comparison::at_most);
  EXPECT_DOUBLE_EQ(of("success_rate<99.9%").limit, 0.999);
  EXPECT_EQ(of("commands>2.01").limit, 2.01);
}

// --require says what has to hold, --fail what must not be.
TEST(threshold, may_say_what_is_required) {
  const auto required = [](std::string_view text) { return *parse_threshold(text, true); };
  EXPECT_EQ(required("p99<20ms").fails_if, comparison::at_least);
  EXPECT_EQ(required("p99<=20ms").fails_if, comparison::above);
  EXPECT_EQ(required("tps>100/s").fails_if, comparison::at_most);
  EXPECT_EQ(required("tps>=100/s").fails_if, comparison::below);
  EXPECT_EQ(broken_by(required("p99<20ms"), with_p99(31'400'000)),
            "p99 was 31.4 ms, and p99<20ms is required");
  EXPECT_FALSE(broken_by(required("p99<20ms"), with_p99(19'000'000)));
  EXPECT_TRUE(broken_by(required("p99<20ms"), with_p99("> 1000000000")));
  EXPECT_THAT(parse_threshold("p99", true).error().sentence, HasSubstr("such as p99<20ms"));
}

TEST(threshold, that_is_none_is_explained) {
  const std::pair<const char*, const char*> cases[] = {
      {"p99", "expected FIGURE, one of > >= < <=, and a value"},
      {"p98>20ms", "p50, p90, p95, p99, p99.9"},
      {"p99>20", "a duration"},
      {"tps<x", "a number"},
      {">5", "expected one of success_rate, tps"},
  };
  for (const auto& [text, sentence] : cases) {
    const auto t = parse_threshold(text);
    ASSERT_FALSE(t) << text;
    EXPECT_THAT(t.error().sentence, HasSubstr(sentence));
  }
}

TEST(threshold, is_broken_or_holds) {
  EXPECT_EQ(broken_by(of("p99>20ms"), with_p99(31'400'000)), "p99 was 31.4 ms, and p99>20ms fails");
  EXPECT_FALSE(broken_by(of("p99>20ms"), with_p99(20'000'000)));
  EXPECT_TRUE(broken_by(of("p99>=20ms"), with_p99(20'000'000)));
  EXPECT_TRUE(broken_by(of("p99>20ms"), with_p99("> 1000000000")));
  EXPECT_TRUE(broken_by(of("tps<1000000/s"), with_p99(1)));
  EXPECT_FALSE(broken_by(of("violations>1000000"), with_p99(1)));
}

TEST(threshold, needs_enough_attempts) {
  try {
    broken_by(of("p99>20ms"), with_p99(nullptr, false));
    FAIL();
  } catch (const usage_error& e) {
    EXPECT_THAT(e.what(), HasSubstr("--fail p99>20ms: p99 needs 368 attempts, and the run had "));
  }
}

// That of the worst client needs enough of its own, and is not lost before the run's end: of all
// attempts together nothing follows for a client.
TEST(threshold, may_be_of_the_worst_client) {
  report::recorded_run run{"first", run::to_json(run::sample_run{}.r)};
  EXPECT_EQ(broken_by(of("worst_p99>20ms"), run),
            "worst_p99 was > 1.0 s, and worst_p99>20ms fails");
  EXPECT_EQ(broken_by(of("worst_success<95%"), run),
            "worst_success was 90.0 %, and worst_success<95% fails");
  auto& p99 = run.content["fairness"]["worst_response"]["quantiles"][0];
  p99["supported"] = false;
  p99["value_ns"] = nullptr;
  try {
    broken_by(of("worst_p99>20ms"), run);
    FAIL();
  } catch (const usage_error& e) {
    EXPECT_THAT(e.what(), HasSubstr("worst_p99 needs 368 attempts, and that client had 400"));
  }
}

// A run of some attempts, of which every n-th takes a second.
struct going_on {
  run::result known;
  run::interval totals;
  run::findings found;

  going_on(int attempts, int slow_every) {
    for (int i = 1; i <= attempts; ++i) {
      totals[run::series::response].record(i % slow_every == 0 ? 1'000'000'000 : 1'000'000);
      ++totals.counts[run::counter::granted];
    }
  }
  run::live_view view() const {
    return {run::phase::measuring, known, totals, found, {}, 0, 0, 0, 0};
  }
};

TEST(threshold, is_lost_only_beyond_doubt) {
  // 2 % of 1,000 take a second, where 1 % may: that can be chance. Of 10,000 it cannot.
  EXPECT_FALSE(is_lost(of("p99>20ms"), going_on(1'000, 50).view()));
  EXPECT_TRUE(is_lost(of("p99>20ms"), going_on(10'000, 50).view()));
  EXPECT_FALSE(is_lost(of("p99>20ms"), going_on(10'000, 200).view()));
  EXPECT_FALSE(is_lost(of("p99>20ms"), going_on(100, 2).view()));
  EXPECT_FALSE(is_lost(of("p99<2s"), going_on(10'000, 50).view()));
  EXPECT_FALSE(is_lost(of("worst_p99>20ms"), going_on(10'000, 50).view()));
}

TEST(threshold, of_violations_is_lost_at_the_first_one) {
  going_on g(10, 100);
  EXPECT_FALSE(is_lost(of("violations>0"), g.view()));
  g.found.certain_violations = 1;
  EXPECT_TRUE(is_lost(of("violations>0"), g.view()));
}

}  // namespace
}  // namespace lockmark::gate
