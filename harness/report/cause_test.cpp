#include "harness/report/cause.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace lockmark::report {
namespace {

using json = nlohmann::ordered_json;

json overlap(double from_s, double to_s) {
  return {{"first", {{"granted_ns", 0}, {"release_sent_ns", to_s * 1e9}}},
          {"second", {{"granted_ns", from_s * 1e9}, {"release_sent_ns", (to_s + 9) * 1e9}}}};
}

json fault(double at_s, double for_s, const char* kind = "pause_holder") {
  return {{"kind", kind}, {"text", "the holder was paused"}, {"at_s", at_s}, {"for_s", for_s}};
}

std::string said(const std::vector<json>& examples, const std::vector<json>& faults) {
  json content;
  content["safety"]["examples"] = examples;
  content["faults"] = faults;
  return fault_at_violation(content);
}

TEST(fault_at_violation, is_the_one_that_was_on) {
  EXPECT_EQ(said({overlap(2, 3)}, {fault(0.1, 0.2, "kill_server"), fault(0.5, 8)}),
            "The first one, at 2.00 s, came while a fault was on (pause_holder): the holder was "
            "paused");
}

// Examples may be in any order.
TEST(fault_at_violation, is_of_the_earliest_violation) {
  EXPECT_EQ(said({overlap(5, 6), overlap(2, 3)}, {fault(1.5, 2, "kill_server"), fault(5, 2)}),
            "The first one, at 2.00 s, came while a fault was on (kill_server): the holder was "
            "paused");
}

TEST(fault_at_violation, may_be_over) {
  EXPECT_EQ(said({overlap(2, 3)}, {fault(0.5, 0), fault(4, 1)}),
            "The last fault before the first one, 1.50 s earlier (pause_holder): the holder was "
            "paused");
  EXPECT_EQ(said({overlap(2, 3)}, {fault(4, 1)}),
            "No fault had been injected before the first one");
}

TEST(fault_at_violation, of_a_run_without_faults_or_without_violations) {
  EXPECT_EQ(said({overlap(2, 3)}, {}), "No faults were injected");
  EXPECT_EQ(said({}, {fault(0.5, 8)}), "");
}

TEST(fault_at_violation, of_a_damaged_run_is_not_known) {
  EXPECT_EQ(fault_at_violation(json::object()), "");
  json no_end = overlap(2, 3);
  no_end["first"]["release_sent_ns"] = nullptr;
  EXPECT_EQ(said({no_end}, {fault(0.5, 8)}), "");
  json no_length = fault(0.5, 8);
  no_length["for_s"] = nullptr;
  EXPECT_EQ(said({overlap(2, 3)}, {no_length}), "");
}

}  // namespace
}  // namespace lockmark::report
