#include "harness/report/fault_matrix.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "harness/base/errors.hpp"

namespace lockmark::report {
namespace {

using json = nlohmann::ordered_json;
using testing::HasSubstr;
using testing::Not;

recorded_run run_of(const std::string& lock, const std::string& scenario, int violations,
                    json recovery_ns, json agrees = true) {
  json fault{{"recovery_ns", std::move(recovery_ns)},
             {"violations_among_others", violations / 2},
             {"predicted",
              {{"least_ns", 1'500'000'000},
               {"most_ns", 1'500'000'000},
               {"why", "the rest of the lease of 2 s"}}},
             {"agrees", std::move(agrees)}};
  json content;
  content["run"] = {
      {"lock", lock}, {"scenario", scenario}, {"topology", "redis"}, {"complete", true}};
  content["verdict"] = {{"violations", violations}};
  content["safety"] = {{"guard", {{"stale_accesses", violations}, {"fenced", false}}}};
  content["provenance"] = {{"lock_options", json::object()}};
  content["faults"] = json::array({fault});
  return {"run", content};
}

TEST(fault_matrix, adds_up_repetitions) {
  const auto cells = fault_cells({run_of("redis/lua", "holder_paused", 3, 1'600'000'000),
                                  run_of("redis/lua", "holder_paused", 0, 1'400'000'000, false),
                                  run_of("redis/lua", "holder_killed", 0, 1'500'000'000)});
  ASSERT_EQ(cells.size(), 2U);
  EXPECT_EQ(cells[0].runs, 2U);
  EXPECT_EQ(cells[0].violated, 1U);
  EXPECT_EQ(cells[0].violations, 3U);
  EXPECT_EQ(cells[0].among_others, 1U);
  EXPECT_EQ(cells[0].agreeing, 1U);
  EXPECT_EQ(verdict_text(cells[0]),
            "violated in 1 of 2 runs; next grant at most 1.6 s after the fault");
  EXPECT_EQ(verdict_text(cells[1]), "safe in 1 of 1 run; next grant 1.5 s after the fault");
  EXPECT_THAT(fault_matrix_markdown(cells),
              HasSubstr("| redis/lua | redis | **1/2 violated**, 1.6 s | safe, 1.5 s |"));
}

// A run that ended too soon says nothing of the theory, for or against it.
TEST(fault_matrix, tells_what_was_not_observed) {
  const auto cells = fault_cells({run_of("redis/lua", "holder_killed", 0, 1'500'000'000),
                                  run_of("redis/lua", "holder_killed", 0, nullptr, nullptr)});
  EXPECT_EQ(cells[0].agreeing, 1U);
  EXPECT_EQ(cells[0].not_observed, 1U);
  EXPECT_THAT(fault_matrix_markdown(cells), HasSubstr("| 1 of 2, 1 not observed |"));
}

// No markup, no line beyond the width, and each figure with its name.
TEST(fault_matrix, on_a_terminal) {
  const auto cells = fault_cells({run_of("redis/lua", "holder_paused", 3, 1'600'000'000),
                                  run_of("redis/setnx", "holder_paused", 0, nullptr, nullptr)});
  EXPECT_EQ(fault_matrix_text(cells, 78),
            "holder_paused\n"
            "  redis/lua on redis: violated in 1 of 1 run; next grant 1.6 s after the fault\n"
            "    3 holds of the key by two clients at once, 1 of them without the client\n"
            "    that the fault hit; 3 writes to the resource came too late, which it\n"
            "    cannot refuse, because this lock has no fencing token\n"
            "    predicted next grant: 1.5 s: the rest of the lease of 2 s; 1 of 1 run\n"
            "    agrees\n"
            "  redis/setnx on redis: safe in 1 of 1 run; not granted again\n"
            "    predicted next grant: 1.5 s: the rest of the lease of 2 s; 0 of 1 run\n"
            "    agrees, 1 ended too early to tell\n");
  std::istringstream lines(fault_matrix_text(cells, 40));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 40U) << line;
}

// A run may be both: it says nothing of the lock, once.
TEST(fault_matrix, calls_no_run_safe_that_was_cut_short_or_tested_nothing) {
  std::vector<recorded_run> runs(3, run_of("redis/lua", "holder_paused", 0, 1'500'000'000));
  for (const std::size_t cut : {0, 1}) runs[cut].content["run"]["complete"] = false;
  for (const std::size_t idle : {1, 2}) runs[idle].content["verdict"]["held"] = nullptr;
  const auto cells = fault_cells(runs);
  EXPECT_EQ(verdict_text(cells[0]),
            "not tested to the end; next grant at most 1.5 s after the fault; 2 runs incomplete");
  EXPECT_THAT(fault_matrix_markdown(cells),
              HasSubstr("| not tested to the end, 1.5 s, 2 incomplete |"));
}

TEST(fault_matrix, says_never_where_one_run_never_recovered) {
  const auto cells = fault_cells({run_of("redis/setnx", "holder_killed", 0, nullptr),
                                  run_of("redis/setnx", "holder_killed", 0, 1'000'000)});
  EXPECT_EQ(verdict_text(cells[0]), "safe in 2 of 2 runs; not granted again");
  EXPECT_THAT(fault_matrix_markdown(cells), HasSubstr("safe, never"));
}

TEST(fault_matrix, has_a_dash_where_a_scenario_is_not_for_a_lock) {
  const auto text = fault_matrix_markdown(fault_cells(
      {run_of("redis/lua", "holder_paused", 0, 1), run_of("redis/setnx", "half_way", 0, 1)}));
  EXPECT_THAT(text, HasSubstr("| redis/lua | redis | safe, 1 ns | - |"));
  EXPECT_THAT(text, HasSubstr("### half_way"));
}

// Scenarios of one backend do not appear in another's matrix.
TEST(fault_matrix, is_one_for_each_backend) {
  const auto text =
      fault_matrix_markdown(fault_cells({run_of("redis/lua", "redlock_even", 0, 1),
                                         run_of("zookeeper/sequential", "leader_killed", 0, 1),
                                         run_of("zookeeper/ephemeral", "leader_killed", 0, 1)}));
  EXPECT_THAT(text, HasSubstr("| lock | topology | redlock_even |\n"));
  EXPECT_THAT(text, HasSubstr("| lock | topology | leader_killed |\n"));
  EXPECT_THAT(text, Not(HasSubstr("| - |")));
}

TEST(fault_matrix, refuses_what_is_no_run) {
  EXPECT_THROW(fault_cells({{"x", json::object()}}), usage_error);
}

}  // namespace
}  // namespace lockmark::report
