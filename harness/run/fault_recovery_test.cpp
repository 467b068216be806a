// The reported effects of a fault, from stamps such as a run would leave.
#include <gtest/gtest.h>

#include "harness/run/fault_findings.hpp"

namespace lockmark::run {
namespace {

using namespace std::chrono_literals;

// A run of ten seconds; the first participant is hit after two.
class recoveries : public testing::Test {
 protected:
  fault_finding judge(const std::string& fault, duration lasted, bool on_a_client,
                      features lock = {}) {
    const config::job j = config::parse_job(
        "load: {instances: 2, clients: 1}\nparticipants: 2\nhold: 1s\nkeys: " + keys_ +
            "\noptions: {sweep: " + sweep_ + "}\nstop: {duration: 10s}\nfaults:\n  - " + fault,
        "j.yaml", {});
    faults::infliction i{.kind = "", .text = "", .began = time_point{2s}, .lasted = lasted};
    if (on_a_client) i.participant = 0;
    window measured;
    measured.start_ns = 0;
    measured.end_ns = 10'000 * ms;
    return judge_faults({i}, found_, j, lock, measured).at(0);
  }

  static constexpr std::int64_t ms = 1'000'000;
  findings found_;
  std::string sweep_ = "30s";
  std::string keys_ = "one";
};

// The sweeper's grant may come after the end of the run, which then says nothing of it; one due
// earlier is missed.
TEST_F(recoveries, after_the_end_are_not_observed) {
  found_.grant_stamps = {{1000 * ms, 0}};
  const std::string kill = "{do: kill, who: holder, at: 2s}";
  EXPECT_EQ(judge(kill, 0s, true).agrees, std::nullopt);
  sweep_ = "3s";
  EXPECT_EQ(judge(kill, 0s, true).agrees, false);
}

// A grant to another client means that the first hold was over, unless they hold different keys.
TEST_F(recoveries, know_who_held_a_key_of_its_own) {
  found_.grant_stamps = {{1500 * ms, 0}, {1800 * ms, 1}};
  const std::string pause = "{do: pause, who: holder, at: 2s, for: 3s}";
  EXPECT_EQ(judge(pause, 3s, true).predicted->why, "it held nothing");
  keys_ = "own";
  found_.grant_stamps[1].key = 1;
  EXPECT_EQ(judge(pause, 3s, true).predicted->why, "the others hold keys of their own");
}

// The old master grants until the new one leads.
TEST_F(recoveries, see_a_failover_to_its_end) {
  found_.grant_stamps = {{2050 * ms, 0}, {2900 * ms, 1}, {6000 * ms, 0}, {6100 * ms, 1}};
  EXPECT_EQ(judge("{do: fail_over, who: master, at: 2s}", 1s, false).recovery_ns, 4000 * ms);
  EXPECT_EQ(judge("{do: pause, who: master, at: 2s, for: 1s}", 1s, false).recovery_ns, 900 * ms);
}

// What was given back before the fault was not held then.
TEST_F(recoveries, know_what_was_given_back) {
  found_.grant_stamps = {{1500 * ms, 0, 0, 0, 1600 * ms}};
  const std::string pause = "{do: pause, who: holder, at: 2s, for: 3s}";
  EXPECT_EQ(judge(pause, 3s, true).predicted->why, "it held nothing");
}

// Others go on with keys of their own: that is no recovery of the key that the victim held.
TEST_F(recoveries, are_of_the_key_that_was_held) {
  keys_ = "uniform(8)";
  found_.grant_stamps = {{1500 * ms, 0, 3}, {2010 * ms, 1, 5}, {3600 * ms, 1, 3}};
  const auto f = judge("{do: kill, who: holder, at: 2s}", 0s, true, feature::lease);
  EXPECT_EQ(f.recovery_ns, 1600 * ms);
}

// The victim's own key tells nothing. A lock without an index keeps the others waiting for theirs,
// which does not agree with one that is said to have an index.
TEST_F(recoveries, are_of_the_others_where_each_has_its_own_key) {
  keys_ = "own";
  const std::string pause = "{do: pause, who: holder, at: 2s, for: 3s}";
  const check::grant_stamp victim{1500 * ms, 0, 0}, resumed{5100 * ms, 0, 0, 5099 * ms};
  const check::grant_stamp other{1800 * ms, 1, 1};
  found_.grant_stamps = {victim, other, {2052 * ms, 1, 1, 2050 * ms}, resumed};
  EXPECT_EQ(judge(pause, 3s, true).recovery_ns, 52 * ms);
  EXPECT_EQ(judge(pause, 3s, true).agrees, true);
  found_.grant_stamps = {victim, other, resumed, {5101 * ms, 1, 1, 2050 * ms}};
  EXPECT_EQ(judge(pause, 3s, true).recovery_ns, 3101 * ms);
  EXPECT_EQ(judge(pause, 3s, true).agrees, false);
}

// Without a request before, a late grant tells nothing about the lease.
TEST_F(recoveries, are_not_late_where_nobody_asked) {
  keys_ = "uniform(8)";
  const std::string kill = "{do: kill, who: holder, at: 2s}";
  sweep_ = "3s";
  found_.grant_stamps = {{1500 * ms, 0, 3}, {9000 * ms, 1, 3, 8990 * ms}};
  EXPECT_EQ(judge(kill, 0s, true).agrees, true);
  found_.grant_stamps[1].wanted_ns = 1600 * ms;
  EXPECT_EQ(judge(kill, 0s, true).agrees, false);
}

}  // namespace
}  // namespace lockmark::run
