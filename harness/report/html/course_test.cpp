// The course of a run: from timeline.jsonl and latency.hlog to the resolution of a chart.
#include "harness/report/html/course.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "harness/stats/hlog.hpp"

namespace lockmark::report::html {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t ms = 1'000'000;

std::string line(double at_s, int granted, int refused) {
  std::ostringstream text;
  text << R"({"at_s":)" << at_s << R"(,"length_s":0.5,"attempts":)" << granted + refused
       << R"(,"granted":)" << granted << R"(,"refused_deadline":)" << refused << "}\n";
  return text.str();
}

std::vector<stretch> read(const std::string& text, std::string& damage) {
  std::istringstream in(text);
  return read_timeline(in, damage);
}

TEST(timeline, reads_counts_by_their_names) {
  std::string damage;
  const auto all = read(line(0, 9, 1) + line(0.5, 20, 0), damage);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].granted(), 9U);
  EXPECT_EQ(all[0].not_granted(), 1U);
  EXPECT_EQ(all[0].ended[2], 1U);
  EXPECT_EQ(all[1].attempts, 20U);
  EXPECT_THAT(edges_of(all), ElementsAre(0, 0.5, 1.0));
  EXPECT_EQ(damage, "");
}

// A killed run leaves an incomplete last line; one in the middle is damage.
TEST(timeline, ends_where_it_cannot_be_read) {
  std::string damage;
  EXPECT_EQ(read(line(0, 9, 1) + R"({"at_s":0.5,"le)", damage).size(), 1U);
  EXPECT_EQ(damage, "");
  EXPECT_EQ(read(line(0, 9, 1) + "nonsense\n" + line(1, 1, 1), damage).size(), 1U);
  EXPECT_THAT(damage, HasSubstr("line 2"));
  EXPECT_TRUE(read("", damage).empty());
}

// Joining intervals loses nothing.
TEST(timeline, joins_neighbours) {
  std::vector<stretch> fine;
  std::string damage, text;
  for (int i = 0; i < 7; ++i) text += line(i * 0.5, 10 + i, i);
  const auto coarse = joined(read(text, damage), 3);
  ASSERT_EQ(coarse.size(), 3U);
  EXPECT_EQ(coarse[0].granted(), 10U + 11 + 12);
  EXPECT_EQ(coarse[2].granted(), 16U);
  EXPECT_EQ(coarse[1].not_granted(), 3U + 4 + 5);
  EXPECT_THAT(edges_of(coarse), ElementsAre(0, 1.5, 3.0, 3.5));
  EXPECT_EQ(joined(read(text, damage), 100).size(), 7U);
  EXPECT_TRUE(joined({}, 5).empty());
}

// The last few milliseconds are not a separate stretch.
TEST(timeline, has_no_sliver_at_its_end) {
  std::vector<stretch> fine(3);
  for (std::size_t i = 0; i < 3; ++i) {
    fine[i].begin_s = static_cast<double>(i);
    fine[i].length_s = i < 2 ? 1 : 0.003;
    fine[i].attempts = 10;
  }
  const auto all = joined(fine, 100);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[1].attempts, 20U);
  EXPECT_THAT(edges_of(all), ElementsAre(0, 1, 2.003));
}

stats::histogram of(std::int64_t value_ns, std::int64_t count) {
  stats::histogram h;
  h.record(value_ns, count);
  return h;
}

// Two intervals in the first stretch, none in the second, one in the third, whose length in the
// file is a millisecond short.
TEST(latency, by_stretch_of_time) {
  std::stringstream file;
  stats::hlog_writer log(file, 0);
  log.write("", 0, 500 * ms, of(1 * ms, 10));
  log.write("service", 0, 500 * ms, of(900'000, 10));
  log.write("", 500 * ms, 500 * ms, of(8 * ms, 30));
  log.write("timer_lag", 500 * ms, 500 * ms, of(20'000, 3));
  log.write("", 1999 * ms, 500 * ms, of(100 * ms, 5));
  std::string damage;
  const latency found = read_latency(file, {0, 1, 2, 3}, damage);
  EXPECT_EQ(damage, "");
  ASSERT_EQ(found.moments.size(), 3U);
  EXPECT_EQ(found.moments[0].granted, 40);
  EXPECT_NEAR(static_cast<double>(found.moments[0].p50_ns), 8e6, 1e4);
  EXPECT_EQ(found.moments[0].by_band[60], 10U);  // 10^6.0 ns
  EXPECT_EQ(found.moments[0].by_band[69], 30U);  // 10^6.9 ns
  EXPECT_EQ(found.moments[1].granted, 0);
  EXPECT_EQ(found.moments[2].granted, 5);
  EXPECT_EQ(found.response.count(), 45);
  EXPECT_EQ(found.service.count(), 10);
  EXPECT_EQ(found.timer_lag.count(), 3);
}

TEST(latency, damage_keeps_what_was_read) {
  std::stringstream file;
  stats::hlog_writer(file, 0).write("", 0, 500 * ms, of(1 * ms, 10));
  file << "0.5,0.5,1,damaged\n";
  std::string damage;
  EXPECT_EQ(read_latency(file, {0, 1}, damage).moments[0].granted, 10);
  EXPECT_THAT(damage, HasSubstr("line "));
}

// The curve ends where the attempts without a grant begin, and shows no more than the number of
// samples supports.
TEST(curve, ends_with_what_is_known) {
  const stats::histogram h = of(5 * ms, 900);
  const auto all_granted = curve_of("c", {h, 0, 1'000 * ms}, false).points;
  EXPECT_DOUBLE_EQ(all_granted.front().x, 1);
  EXPECT_GT(all_granted.back().x, 99);
  EXPECT_LT(all_granted.back().x, 400);  // p99.9 needs 3,688 samples
  EXPECT_EQ(curve_of("c", {h, 0, 1'000 * ms}, false).shown.size(), 5U);
  const curve most = curve_of("c", {h, 100, 1'000 * ms}, true);
  const auto& some = most.points;
  EXPECT_LE(some.back().x, 10.001);  // a tenth was not granted
  EXPECT_GT(some.back().x, 7);
  EXPECT_EQ(most.shown.at(0.5), "<= 5.0 ms");
  EXPECT_EQ(most.shown.at(0.95), "> 1.0 s");
  EXPECT_TRUE(curve_of("c", {stats::histogram(), 5, ms}, false).points.empty());
  EXPECT_TRUE(curve_of("c", {stats::histogram(), 0, ms}, false).points.empty());
}

}  // namespace
}  // namespace lockmark::report::html
