#include "harness/report/hold_bars.hpp"

#include <gtest/gtest.h>

namespace lockmark::report {
namespace {

using json = nlohmann::ordered_json;

json hold(const char* who, double from_s, double to_s) {
  return {{"who", who},
          {"granted_ns", static_cast<std::int64_t>(from_s * 1e9)},
          {"release_sent_ns", static_cast<std::int64_t>(to_s * 1e9)}};
}

json example(const json& first, const json& second, int key = 0) {
  return {{"key", key}, {"first", first}, {"second", second}};
}

// A column for each 0.1 s. The long hold meets two others, one after the other.
TEST(hold_bars, show_who_held_the_key_beside_whom) {
  const json examples{example(hold("one", 0, 2), hold("two", 0.5, 1)),
                      example(hold("one", 0, 2), hold("three", 1.5, 2))};
  EXPECT_EQ(hold_bars(examples, 27),
            "one    =====XXXXX=====XXXXX\n"
            "two         XXXXX\n"
            "three                 XXXXX\n"
            "       0.0 s          2.0 s\n");
}

// Two keys have nothing to do with each other.
TEST(hold_bars, are_of_one_key) {
  const json examples{example(hold("a", 0, 2), hold("b", 1, 2)),
                      example(hold("c", 0, 9), hold("d", 1, 8), 1)};
  EXPECT_EQ(hold_bars(examples, 23),
            "a  ==========XXXXXXXXXX\n"
            "b            XXXXXXXXXX\n"
            "   0.0 s          2.0 s\n");
}

TEST(hold_bars, are_nothing_without_a_violation) {
  EXPECT_EQ(hold_bars(json::array(), 80), "");
}

}  // namespace
}  // namespace lockmark::report
