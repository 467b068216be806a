// Fault plans: their syntax, the errors with their sentences, and their descriptions.
#include "harness/faults/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/config/job.hpp"
#include "harness/faults/kind.hpp"

namespace lockmark::faults {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// A job with these lines below "faults:"; the first of them is line 3.
config::job job_with(const std::string& faults, const std::vector<std::string>& assignments = {}) {
  return config::parse_job("stop: {duration: 10s}\nfaults:\n" + faults, "j.yaml", assignments);
}

fault_plan plan_of(const std::string& fault) {
  return read_faults(job_with("  - " + fault + "\n").faults).at(0);
}

std::string fault_error_of(const std::string& faults, const std::vector<std::string>& sets = {}) {
  try {
    job_with(faults, sets);
  } catch (const config::config_error& error) {
    return error.what();
  }
  return "no error";
}

// Every key sets its member.
TEST(fault_plan, is_read_from_a_list_of_groups) {
  const auto plans = read_faults(job_with(R"(
  - {do: pause, who: holder, at: 2s, for: 5s}
  - do: kill
    who: server redis-2
    at: 10s
    for: 3s
    data: lost
    every: 20s
  - {do: kill, who: participant 2, on: "SETNX", nth: 3, answered: ":1"}
  - {do: delay, who: servers, at: 0s, for: 1s, by: 10ms}
  - {do: jump_clock, who: server 1, at: 1s, by: -1.5s}
  - {do: run, command: "stop it", undo: "start it", at: 5s, for: 5s}
)")
                                     .faults);
  ASSERT_EQ(plans.size(), 6U);
  EXPECT_EQ(plans[0],
            (fault_plan{.what = find_kind("pause"), .who = "holder", .at = 2s, .lasts = 5s}));
  EXPECT_EQ(plans[1], (fault_plan{.what = find_kind("kill"),
                                  .who = "server redis-2",
                                  .at = 10s,
                                  .lasts = 3s,
                                  .every = 20s,
                                  .keeps_data = false}));
  EXPECT_EQ(plans[2], (fault_plan{.what = find_kind("kill"),
                                  .who = "participant 2",
                                  .on = "SETNX",
                                  .nth = 3,
                                  .answered = ":1"}));
  EXPECT_EQ(plans[3].by, 10ms);
  EXPECT_EQ(plans[4].by, -1500ms);
  EXPECT_EQ(plans[5].command, "stop it");
  EXPECT_EQ(plans[5].undo, "start it");
}

// More than nine faults stay in numerical order, not in the order of their texts.
TEST(fault_plan, keeps_its_place_in_the_list) {
  std::string list;
  for (int n = 1; n <= 11; ++n) {
    list += "  - {do: kill, who: master, at: " + std::to_string(n) + "s}\n";
  }
  const auto plans = read_faults(job_with(list).faults);
  ASSERT_EQ(plans.size(), 11U);
  EXPECT_EQ(plans[1].at, 2s);
  EXPECT_EQ(plans[10].at, 11s);
}

// --set reaches into the list, and the printed job reads back as the same job.
TEST(fault_plan, can_be_set_and_printed) {
  const config::job j = job_with("  - {do: pause, who: holder, at: 2s, for: 5s}\n",
                                 {"faults.1.at=7s", "faults.2.do=run", "faults.2.at=1s",
                                  "faults.2.command=echo '1: \"2\"' # 3"});
  const auto plans = read_faults(j.faults);
  ASSERT_EQ(plans.size(), 2U);
  EXPECT_EQ(plans[0].at, 7s);
  EXPECT_EQ(plans[1].command, "echo '1: \"2\"' # 3");
  EXPECT_EQ(config::parse_job(config::print_job(j), "printed"), j);
}

TEST(fault_plan, says_what_is_wrong) {
  const std::pair<std::string, std::string> cases[] = {
      {"{who: master, at: 1s}",
       "j.yaml:3: faults.1.do: is missing; known are pause, kill, cut, stall, delay, jump_clock, "
       "fail_over, run"},
      {"{do: kil, who: master, at: 1s}",
       "j.yaml:3: faults.1.do: expected pause, kill, cut, stall, delay, jump_clock, fail_over, "
       "run, not 'kil', which is nearest to kill"},
      {"{do: kill, who: mastr, at: 1s}", "which is nearest to master"},
      {"{do: kill, who: server, at: 1s}", "faults.1.who: expected 'server 1', not 'server'"},
      {"{do: kill, who: master 2, at: 1s}", "expected 'master' alone, not 'master 2'"},
      {"{do: kill, who: participant x, at: 1s}", "'participant' and a number from 1"},
      {"{do: kill, at: 1s}", "j.yaml:3: faults.1.who: is missing: whom do: kill hits"},
      {"{do: kill, who: master}", "faults.1.at: is missing"},
      {"{do: kill, who: master, att: 1s}",
       "faults.1.att: is an unknown key of a fault; the nearest known key is at"},
      {"{do: kill, who: master, at: soon}", "faults.1.at: expected a duration"},
      {"{do: kill, who: master, at: 25h}", "faults.1.at: expected a duration from 0s to 24h"},
      {"{do: kill, who: holder, at: 1s, on: SET}", "faults.1.on: excludes at"},
      {"{do: kill, who: master, on: SET}", "faults.1.on: is for the holder and participants"},
      {"{do: kill, who: holder, at: 1s, nth: 2}", "faults.1.nth: counts the requests of on"},
      {"{do: kill, who: holder, at: 1s, answered: OK}",
       "faults.1.answered: chooses among the requests of on"},
      {"{do: kill, who: holder, on: SET, nth: 0}", "faults.1.nth: expected a whole number"},
      {"{do: kill, who: holder, on: SET, every: 1s}", "faults.1.every: goes with at"},
      {"{do: kill, who: holder, at: 1s, for: 1s}", "faults.1.for: means nothing here"},
      {"{do: kill, who: holder, at: 1s, data: lost}", "faults.1.data: is for the kill of servers"},
      {"{do: kill, who: master, at: 1s, data: gone}", "faults.1.data: expected kept or lost"},
      {"{do: kill, who: master, at: 1s, for: 2s, every: 2s}", "faults.1.every: of 2s is not long"},
      {"{do: pause, who: master, at: 1s}", "faults.1.for: is missing: how long do: pause lasts"},
      {"{do: pause, who: replication, at: 1s, for: 1s}", "replication is a link, which do: pause"},
      {"{do: cut, who: master, at: 1s}", "faults.1.for: is missing"},
      {"{do: delay, who: master, at: 1s, for: 1s}", "faults.1.by: is needed by do: delay"},
      {"{do: delay, who: master, at: 1s, for: 1s, by: -1s}", "cannot be negative"},
      {"{do: cut, who: master, at: 1s, for: 1s, by: 1s}", "faults.1.by: is for do: delay and"},
      {"{do: jump_clock, who: holder, at: 1s, by: 1s}", "faults.1.who: expected servers"},
      {"{do: fail_over, who: replicas, at: 1s}",
       "faults.1.who: expected master, which a replica follows, not 'replicas'"},
      {"{do: fail_over, who: master, at: 1s, for: 1s}", "faults.1.for: means nothing to do: fail"},
      {"{do: run, at: 1s}", "faults.1.command: is missing"},
      {"{do: run, who: master, command: x, at: 1s}", "faults.1.who: means nothing to do: run"},
      {"{do: run, command: x, undo: y, at: 1s}", "faults.1.for: is missing: when undo is run"},
      {"{do: cut, who: link 1, at: 1s, for: 1s}", "faults.1.who: expected 'link 1 2', not"},
      {"{do: kill, who: link 1 2, at: 1s}", "expected a server: do: kill does not hit links"},
      {"{do: kill, who: leader, with: holder, at: 1s}", "faults.1.with: is for do: cut, stall and"},
      {"{do: cut, who: leader, with: master, at: 1s, for: 1s}",
       "faults.1.with: expected holder, 'participant 1' or participants, not 'master'"},
      {"{do: cut, who: leader, with: participant 0, at: 1s, for: 1s}",
       "faults.1.with: expected 'participant' and a number from 1"},
      {"{do: cut, who: holder, with: holder, at: 1s, for: 1s}", "faults.1.with: goes with servers"},
      {"{do: kill, who: master, at: 1s, undo: y}", "faults.1.undo: is for do: run only"},
      {"kill", "j.yaml:2: faults: expected a group of keys (faults.*), not a list"},
  };
  for (const auto& [fault, sentence] : cases) {
    EXPECT_THAT(fault_error_of("  - " + fault + "\n"), HasSubstr(sentence)) << fault;
  }
}

// The place is that of the key, or of its fault if the key is missing.
TEST(fault_plan, says_where_it_is_wrong) {
  EXPECT_THAT(
      fault_error_of("  - do: kill\n    who: master\n    at: 1s\n  - do: pause\n    who: master\n"
                     "    at: -1s\n"),
      HasSubstr("j.yaml:8: faults.2.at: "));
  EXPECT_THAT(fault_error_of("  - {do: kill, who: master, at: 1s}\n", {"faults.1.at=x"}),
              HasSubstr("--set faults.1.at: "));
  EXPECT_THAT(fault_error_of("  - {do: kill, who: master, at: 1s}\n", {"faults.first.at=x"}),
              HasSubstr("--set faults.first.at: expected a numbered fault"));
}

TEST(fault_plan, has_a_name_and_a_sentence) {
  const std::pair<std::string, std::vector<std::string>> cases[] = {
      {"{do: pause, who: holder, at: 1s, for: 5s}",
       {"pause_holder", "the holder was paused for 5 s"}},
      {"{do: fail_over, who: master, at: 1s}",
       {"fail_over_master", "the master was replaced by a replica"}},
      {"{do: kill, who: participant 2, at: 1s}", {"kill_participant", "participant 2 was killed"}},
      {"{do: kill, who: master, at: 1s, for: 3s, data: lost}",
       {"kill_master", "the master was killed and came back without its data after 3 s"}},
      {"{do: kill, who: servers, at: 1s, for: 1.5s}",
       {"kill_servers", "all servers were killed and came back with their data after 1.5 s"}},
      {"{do: cut, who: replication, at: 1s, for: 4s}",
       {"cut_replication", "replication was cut off for 4 s"}},
      {"{do: cut, who: leader, with: holder, at: 1s, for: 4s}",
       {"cut_leader", "the leader and the holder were cut off for 4 s"}},
      {"{do: cut, who: link 1 zookeeper-2, at: 1s, for: 4s}",
       {"cut_link", "the link between 1 and zookeeper-2 was cut for 4 s"}},
      {"{do: stall, who: link 1 2, at: 1s, for: 4s}",
       {"stall_link", "nothing got through over the link between 1 and 2 for 4 s"}},
      {"{do: stall, who: server 1, at: 1s, for: 4s}",
       {"stall_server", "nothing got through to server 1 for 4 s"}},
      {"{do: delay, who: replicas, at: 1s, for: 4s, by: 10ms}",
       {"delay_replicas", "every byte to and from the replicas came 10 ms late for 4 s"}},
      {"{do: pause, who: replica, at: 1s, for: 4s}",
       {"pause_replica", "a replica was paused for 4 s"}},
      {"{do: jump_clock, who: server redis, at: 1s, by: -1m}",
       {"jump_clock_server", "the clock of server redis jumped 1 m back"}},
      {"{do: run, command: a b, undo: c, at: 1s, for: 2s}",
       {"run_command", "'a ***' was run, and 'c' after 2 s"}},
  };
  for (const auto& [fault, told] : cases) {
    const fault_plan plan = plan_of(fault);
    EXPECT_THAT((std::vector{name_of(plan), describe(plan)}), testing::ElementsAreArray(told));
  }
}

TEST(fault_plan, never_tells_a_password) {
  const fault_plan plan =
      plan_of("{do: run, at: 1s, command: \"redis-cli -u redis://me:hunter2@h:1 SHUTDOWN\"}");
  EXPECT_EQ(describe(plan), "'redis-cli ***' was run");
}

TEST(fault_plan, knows_whom_it_hits) {
  EXPECT_TRUE(hits_participants(plan_of("{do: kill, who: holder, at: 1s}")));
  EXPECT_TRUE(hits_participants(plan_of("{do: kill, who: participants, at: 1s}")));
  EXPECT_FALSE(hits_participants(plan_of("{do: kill, who: leader, at: 1s}")));
}

}  // namespace
}  // namespace lockmark::faults
