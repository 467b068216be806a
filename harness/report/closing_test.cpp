#include "harness/report/closing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/report/sample_rows.hpp"

namespace lockmark::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

row even_row(const char* lock) {
  row r = measured_row();
  r.lock = lock;
  r["fairness"] = {0.98};
  r["p50"] = {60e6};
  r["p99"] = {90e6};
  r["worst_success"] = r["success_rate"] = {1.0};
  return r;
}

row uneven_row(const char* lock) {
  row r = even_row(lock);
  r["fairness"] = {0.5};
  r["p99"] = {800e6};
  return r;
}

row with_rank(row r, std::size_t rank) {
  r.rank = rank;
  return r;
}

// Each of the three alone makes waits uneven, and at its limit they are even.
TEST(closing, waits_are_even_by_three_figures) {
  row r = even_row("redis/lua");
  r["fairness"] = {0.9};
  r["p99"] = {240e6};
  r["worst_success"] = {0.9};
  EXPECT_EQ(waits_of(r), waits::even);
  row unfair = r, wide = r, starved = r;
  unfair["fairness"] = {0.89};
  wide["p99"] = {241e6};
  starved["worst_success"] = {0.89};
  for (const row& one : {unfair, wide, starved}) EXPECT_EQ(waits_of(one), waits::uneven);
}

// What is not known is no praise; a p99 beyond the timeout is at least so much.
TEST(closing, waits_may_be_unknown) {
  row few = even_row("redis/lua"), censored = few, long_censored = few, only_wide = few;
  few["p99"] = {};
  EXPECT_EQ(waits_of(few), waits::unknown);
  censored["p99"] = {100e6, true};
  EXPECT_EQ(waits_of(censored), waits::unknown);
  long_censored["p99"] = {1000e6, true};
  EXPECT_EQ(waits_of(long_censored), waits::uneven);
  only_wide["fairness"] = {};
  only_wide["p99"] = {900e6};
  EXPECT_EQ(waits_of(only_wide), waits::uneven);
}

TEST(closing, names_locks_by_rank) {
  const std::vector<row> rows{
      with_rank(uneven_row("redis/lua"), 1), with_rank(even_row("mysql/get_lock"), 2),
      with_rank(even_row("zookeeper/sequential"), 3), with_rank(uneven_row("redis/set_nx_px"), 3)};
  EXPECT_EQ(closing_text(rows),
            "Even waits: mysql/get_lock, zookeeper/sequential. Fast but uneven: redis/lua. "
            "Uneven waits: redis/set_nx_px.");
  EXPECT_EQ(closing_text(rows, language::chinese),
            "等待均匀：mysql/get_lock、zookeeper/sequential。快但不均匀：redis/lua。"
            "等待不均匀：redis/set_nx_px。");
  EXPECT_EQ(best_of(rows)->lock, "mysql/get_lock");
}

// However even its waits.
TEST(closing, never_praises_what_is_not_sound) {
  row violated = even_row("redis/getset"), invalid = even_row("etcd/mutex"),
      untested = even_row("etcd/rw"), bound = even_row("mysql/get_lock"),
      wrong = even_row("redis/setnx");
  violated["violations"] = {3};
  invalid.valid = false;
  untested.untested = message{"untested_one_client", {}};
  bound.bound = true;
  wrong.safety_class = "none";
  const std::vector<row> rows{violated, invalid, untested, bound, wrong};
  EXPECT_EQ(closing_text(rows),
            "No safety promised: redis/setnx. Bounds only, the harness was the limit: "
            "mysql/get_lock. Not tested: etcd/rw. DID NOT HOLD: redis/getset. INVALID or "
            "incomplete, not to be used: etcd/mutex.");
  EXPECT_THAT(closing_text(rows, language::chinese),
              AllOf(HasSubstr("未能互斥：redis/getset"), Not(HasSubstr("均匀"))));
  EXPECT_EQ(best_of(rows), nullptr);
}

TEST(closing, of_one_or_two_rows_gives_the_figures) {
  EXPECT_THAT(closing_text({}), IsEmpty());
  EXPECT_EQ(closing_text({even_row("mysql/get_lock")}),
            "Even waits: mysql/get_lock (fairness 0.98, p99 1.5 times p50).");
  row censored = uneven_row("redis/lua");
  censored["p99"] = {1000e6, true};
  EXPECT_EQ(closing_text({even_row("mysql/get_lock"), censored}, language::chinese),
            "等待均匀：mysql/get_lock（公平性 0.98，p99 为 p50 的 1.5 倍）。"
            "等待不均匀：redis/lua（公平性 0.50，p99 为 p50 的 > 16.7 倍）。");
}

// Ranks that are all the same set no lock apart.
TEST(closing, calls_none_fast_where_none_is) {
  const std::vector<row> rows{with_rank(even_row("mysql/get_lock"), 1),
                              with_rank(even_row("etcd/mutex"), 1),
                              with_rank(even_row("postgres/advisory"), 1)};
  EXPECT_EQ(closing_text(rows),
            "Even waits: mysql/get_lock, etcd/mutex, postgres/advisory. No lock is faster beyond "
            "the runs' differences.");
}

TEST(closing, names_scenarios_and_topologies_where_there_are_several) {
  row alone = even_row("redis/lua"), dead = even_row("redis/lua"), elsewhere = dead;
  alone.scenario = "one_client";
  alone.untested = message{"untested_one_client", {}};
  EXPECT_THAT(closing_text({even_row("redis/lua"), alone}), Not(HasSubstr("Not tested")));
  EXPECT_THAT(closing_text({alone}), HasSubstr("Not tested: redis/lua"));
  dead.scenario = elsewhere.scenario = "holder_killed";
  dead["recovery"] = {20e6};
  elsewhere["recovery"] = {900e6};
  elsewhere.topology = "redis-sentinel";
  EXPECT_THAT(closing_text({even_row("redis/lua"), with_rank(dead, 1), with_rank(elsewhere, 2)}),
              AllOf(HasSubstr("contended: Even waits: redis/lua (redis)"),
                    HasSubstr("holder_killed: Soonest next grant after a holder's death: redis/lua "
                              "(redis).")));
}

// A long list is cut, but not that of locks that failed.
TEST(closing, of_many_rows) {
  std::vector<row> rows, violated;
  for (int i = 0; i < 9; ++i) {
    rows.push_back(even_row("redis/lua"));
    violated.push_back(even_row("redis/lua"));
    violated.back()["violations"] = {1};
  }
  EXPECT_THAT(closing_text(rows), HasSubstr("redis/lua and 3 more."));
  EXPECT_THAT(closing_text(violated), Not(HasSubstr("more")));
}

}  // namespace
}  // namespace lockmark::report
