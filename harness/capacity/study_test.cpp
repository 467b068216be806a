// The whole study on simulated runs. Whether its rates hold is in study_simulation_test.cpp.
#include "harness/capacity/study.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "harness/base/errors.hpp"
#include "harness/capacity/simulated_runs.hpp"

namespace lockmark::capacity {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

class a_study : public testing::Test {
 protected:
  study make(const settings& s, const config::job& job = open_job()) {
    subject what;
    what.lock = "memory/lock";
    what.fair = what.renewable = what.leased = true;
    return {what, job, s,
            [this, s](const config::job& j, const std::string&) {
              return simulation_.run(j, s.objectives);
            },
            [](const findings&) {}};
  }
  std::string why_not(const settings& s) {
    try {
      make(s).find_rate();
    } catch (const usage_error& e) {
      return e.what();
    }
    return "";
  }
  const plan_line& line(const findings& f, const std::string& name) {
    const auto found = std::ranges::find(f.plan, name, &plan_line::name);
    EXPECT_NE(found, f.plan.end()) << name;
    return *found;
  }
  simulated_runs simulation_;
};

// Of 3,000 holds none outlived the lease; at their p99.9 one a second would lose the lock.
TEST_F(a_study, says_what_its_lease_loses) {
  settings s = usual("p99<50ms");
  s.wanted_per_s = 1000;
  study all = make(s);
  all.find_rate();
  all.plan();
  const plan_line& lease = line(all.found(), "lease");
  EXPECT_GT(lease.data["lease_s"].get<double>(), 2 * hold_s);
  const double holds = 3 * 1000 / lease.data["losses_per_s_at_most"].get<double>();
  EXPECT_NEAR(std::remainder(holds, 1000), 0, 1e-6);
  EXPECT_GE(holds, 1000);
  EXPECT_DOUBLE_EQ(lease.data["losses_per_s_of_quantile"].get<double>(),
                   1000 * (1 - lease.data["hold_quantile"].get<double>()));
  EXPECT_NE(lease.why.find("outlive it and lose the lock"), std::string::npos) << lease.why;
}

// A server does so many commands, not so many grants: who polls sends sixteen times as many.
TEST_F(a_study, counts_servers_by_commands) {
  settings s = usual("p99<50ms");
  s.wanted_per_s = 1000;
  simulation_.polls = 16;
  study all = make(s);
  all.find_rate();
  all.plan();
  const plan_line& servers = line(all.found(), "servers like this one");
  // 1,000/s of 16 each, where one server does 5,000/s of 1 and 70 % of that is allowed.
  EXPECT_EQ(servers.value, "5");
  EXPECT_NEAR(servers.data["cost"].get<double>(), 16, 1e-9);
  const plan_line& commands = line(all.found(), "server commands per second");
  EXPECT_NEAR(commands.data["share_of_server"].get<double>(), 3.2, 0.01);
}

TEST_F(a_study, finds_rate_bound_model_and_plan) {
  settings s = usual("p99<50ms");
  s.wanted_per_s = 1000;
  study all = make(s);
  all.find_rate();
  all.plan();
  all.sweep();
  const findings& f = all.found();
  ASSERT_TRUE(f.rate);
  // Of 200/s: the waits of M/D/1 reach 50 ms at a little above 80 %.
  EXPECT_GT(f.rate->value, 140);
  EXPECT_LT(f.rate->value, 180);
  EXPECT_GT(f.rate->high, f.rate->value);
  ASSERT_TRUE(f.base->bound_per_s);
  EXPECT_NEAR(f.base->bound_per_s->value, 200, 1);
  ASSERT_FALSE(f.model.empty());
  // Close to the edge waits vary, and a confirmation that passed met short ones.
  EXPECT_NEAR(f.model.back().mean_error(), 0, 0.25);
  EXPECT_NEAR(f.model.front().mean_error(), 0, 0.15);
  ASSERT_EQ(f.cells.size(), 2U);
  EXPECT_FALSE(f.cells[0].open);
  ASSERT_TRUE(f.cells[1].open);
  EXPECT_NEAR(f.cells[1].open->utilisation, 0.7, 0.01);

  const auto shards = line(f, "shards of the lock").data["shards"].get<int>();
  EXPECT_GE(shards, 7);
  EXPECT_LE(shards, 9);
  EXPECT_EQ(line(f, "lease").data["lag_of"], "renewals");
  EXPECT_GT(line(f, "lease").data["lease_s"].get<double>(), hold_s + 0.002);
  EXPECT_GE(line(f, "wait timeout").data["wait_s"].get<double>(), 0.05);
  EXPECT_NEAR(line(f, "server commands per second").data["commands_per_s"].get<double>(), 2000, 1);
  EXPECT_EQ(line(f, "servers like this one").value, "1");
  for (const plan_line& l : f.plan) {
    EXPECT_TRUE(l.name == "wanted rate" || !l.runs.empty()) << l.name;
  }
}

// An earlier, slower client that had the key to itself is no bound for this cell.
TEST_F(a_study, bounds_a_cell_by_its_own_hand_offs) {
  simulation_.lone_s = 0.003;
  study all = make(usual("p99<50ms"));
  all.find_rate();
  all.sweep();
  ASSERT_EQ(all.found().cells[0].clients, 1U);
  EXPECT_NEAR(all.found().cells[0].bound_per_s.value_or(0), 1 / (hold_s + handoff_s), 1);
}

// A run with the arrivals and holds of another one is no independent evidence.
TEST_F(a_study, makes_no_two_runs_alike) {
  study all = make(usual("p99<50ms"));
  all.find_rate();
  all.plan();
  all.sweep();
  auto& seeds = simulation_.seeds;
  EXPECT_THAT(seeds.size(), testing::Gt(10U));
  std::ranges::sort(seeds);
  EXPECT_EQ(std::ranges::adjacent_find(seeds), seeds.end());
}

TEST_F(a_study, is_written_for_people_and_for_programs) {
  study all = make(usual("p99<50ms"));
  all.find_rate();
  all.plan();
  all.sweep();
  const std::string text = to_markdown(all.found());
  EXPECT_THAT(text, AllOf(HasSubstr("# Capacity of memory/lock"), HasSubstr("## Plan"),
                          HasSubstr("## Bounds"), HasSubstr("## Search"), HasSubstr("M/G/1"),
                          HasSubstr("serves its waiters in order")));
  const auto j = to_json(all.found());
  EXPECT_DOUBLE_EQ(j.at("highest_rate_per_s").at("value").get<double>(), all.found().rate->value);
  EXPECT_EQ(j.at("probes").size(), all.found().probes.size());
  EXPECT_FALSE(j.at("plan").empty());
}

TEST_F(a_study, refuses_an_objective_that_a_lone_client_breaks) {
  simulation_.lone_s = 0.06;
  EXPECT_THAT(why_not(usual("p99<50ms")),
              AllOf(HasSubstr("no rate can hold it"), HasSubstr("run-1")));
}

TEST_F(a_study, refuses_a_quantile_for_which_samples_are_too_few) {
  EXPECT_THAT(why_not(usual("p99.999<50ms")),
              AllOf(HasSubstr("too few samples"), HasSubstr("--probe-at-most")));
}

TEST_F(a_study, refuses_what_cannot_be_studied) {
  const auto why = [](const config::job& j, const settings& s) -> std::string {
    try {
      check_study(j, "some", s);
    } catch (const usage_error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(why(open_job(), usual("p99<50ms")), "");
  config::job closed = open_job();
  closed.loop = config::loop_kind::closed;
  EXPECT_THAT(why(closed, usual("p99<50ms")), HasSubstr("load.loop is closed"));
  config::job broken = open_job();
  broken.faults["1.do"] = "stall";
  EXPECT_THAT(why(broken, usual("p99<50ms")), HasSubstr("faults"));
  EXPECT_THAT(why(open_job(), usual("p99<5s")), HasSubstr("give up after 5s"));
  EXPECT_THAT(why(open_job(), settings{}), HasSubstr("--slo"));
}

// A run spoiled by the harness is repeated, and is no evidence against the lock.
TEST_F(a_study, makes_spoiled_runs_again) {
  const settings s = usual("p99<50ms");
  int spoiled = 0;
  study all(
      {}, open_job(), s,
      [&](const config::job& j, const std::string& title) {
        observation o = simulation_.run(j, s.objectives);
        if (title.starts_with("probing") && !title.ends_with("once more")) {
          ++spoiled;
          o.valid = false;
          o.worth_repeating = true;
          for (stretch& part : o.against.front().parts) part.late = part.attempts;
        }
        return o;
      },
      [](const findings&) {});
  all.find_rate();
  EXPECT_GT(spoiled, 0);
  EXPECT_GT(all.found().rate->value, 140);
  EXPECT_FALSE(all.found().limited_by_harness);
}

}  // namespace
}  // namespace lockmark::capacity
