// The picture of who held a key when.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/report/html/page_data.hpp"
#include "harness/report/html/template.hpp"

namespace lockmark::report::html {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr std::int64_t one_ms = 1'000'000;

// A log with a hold of 1 ms for each of these clients, one after the other.
json log_of(const std::vector<int>& clients) {
  json log{{"which", "first"}, {"key", 3}, {"overlaps", json::array()}};
  std::int64_t at_ns = 0;
  for (const int client : clients) {
    log["client"].push_back(client);
    log["granted_ns"].push_back(at_ns);
    log["release_sent_ns"].push_back(at_ns + one_ms);
    at_ns += one_ms;
  }
  return log;
}

subject run_with(std::vector<json> logs) {
  subject s;
  s.run.content = {{"run", {{"clients_per_instance", 4}}},
                   {"safety", {{"holds", std::move(logs)}}}};
  return s;
}

TEST(hold_lanes, has_a_lane_for_each_client_in_order_of_their_first_holds) {
  const json all = hold_lanes(run_with({log_of({5, 0, 5, 1})}), true);
  ASSERT_THAT(all, SizeIs(1));
  const json& lanes = all[0]["lanes"];
  ASSERT_THAT(lanes, SizeIs(3));
  EXPECT_EQ(lanes[0]["who"], "instance 1 client 1");
  EXPECT_EQ(lanes[1]["who"], "instance 0 client 0");
  EXPECT_EQ(lanes[0]["held"], "2 holds");
  EXPECT_EQ(lanes[0]["holds"][1]["left"], "50.000");
  EXPECT_EQ(lanes[0]["holds"][1]["width"], "25.000");
  EXPECT_THAT(lanes[0]["shared"], IsEmpty());
  EXPECT_THAT(filled("hold_lanes", all[0]), HasSubstr("One at a time."));
}

// On the lanes of both, and only for the time that both held it.
TEST(hold_lanes, marks_what_two_held_at_once) {
  json log = log_of({0, 1});
  log["granted_ns"][1] = one_ms / 2;
  log["overlaps"] = json::array({{{"from_ns", one_ms / 2}, {"to_ns", one_ms}}});
  const json all = hold_lanes(run_with({log}), false);
  ASSERT_THAT(all, SizeIs(1));
  for (const json& lane : all[0]["lanes"]) {
    ASSERT_THAT(lane["shared"], SizeIs(1));
    EXPECT_EQ(lane["shared"][0]["left"], "25.000");
    EXPECT_EQ(lane["shared"][0]["width"], "25.000");
  }
  EXPECT_THAT(filled("hold_lanes", all[0]), HasSubstr("two held it at once (overlaps: 1)"));
}

TEST(hold_lanes, beside_other_runs_are_of_violations_only) {
  EXPECT_THAT(hold_lanes(run_with({log_of({0, 1})}), false), IsEmpty());
  EXPECT_THAT(hold_lanes(run_with({log_of({0, 1})}), true), SizeIs(1));
}

TEST(hold_lanes, of_many_clients_are_few) {
  std::vector<int> clients;
  for (int c = 0; c < 100; ++c) clients.push_back(c);
  const json all = hold_lanes(run_with({log_of(clients)}), true);
  const json& lanes = all[0]["lanes"];
  ASSERT_THAT(lanes, SizeIs(20));
  EXPECT_EQ(lanes.back()["who"], "81 other clients");
  EXPECT_EQ(lanes.back()["held"], "81 holds");
}

// Older runs have none, and damaged ones anything.
TEST(hold_lanes, bear_whatever_a_run_has) {
  subject old;
  old.run.content = json::object();
  EXPECT_THAT(hold_lanes(old, true), IsEmpty());
  json odd = log_of({0, 1});
  odd["client"] = "none";
  json short_one = log_of({0, 1, 2});
  short_one["granted_ns"].erase(1);
  short_one["overlaps"] = json::array({7, {{"from_ns", "x"}}});
  const json all = hold_lanes(run_with({odd, json(3), json(), short_one}), true);
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0]["count"], 2);
  EXPECT_THAT(filled("hold_lanes", all[0]), Not(HasSubstr("nan")));
}

}  // namespace
}  // namespace lockmark::report::html
