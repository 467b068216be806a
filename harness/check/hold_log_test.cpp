// Which holds are kept for the pictures of a run.
#include "harness/check/hold_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/check/exclusion.hpp"

namespace lockmark::check {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

class hold_logs : public testing::Test {
 protected:
  void grant(std::uint32_t client, std::int64_t at_ns, std::uint32_t key = 0) {
    checker_.granted({at_ns, 0, key, client, event_kind::granted});
  }
  void release(std::uint32_t client, std::int64_t at_ns, std::uint32_t key = 0) {
    checker_.released({at_ns, 0, key, client, event_kind::released});
  }
  void hold(std::uint32_t client, std::int64_t from_ns, std::int64_t to_ns, std::uint32_t key = 0) {
    grant(client, from_ns, key);
    release(client, to_ns, key);
  }

  static std::vector<std::int64_t> begins(const holds_of_key& of) {
    std::vector<std::int64_t> all;
    for (const check::hold& h : of.holds) all.push_back(h.granted_ns);
    return all;
  }

  exclusion checker_{1'000};
  const hold_log& log_ = checker_.log();
};

// What was granted in the warm-up would have a negative time.
TEST_F(hold_logs, first_are_those_of_the_window) {
  hold(1, 10, 20);
  grant(2, 30);
  checker_.window_begins(35);
  release(2, 40);
  hold(1, 50, 60);
  hold(2, 70, 80);
  EXPECT_THAT(begins(log_.first()), ElementsAre(50, 70));
  EXPECT_THAT(log_.first().overlaps, IsEmpty());
  EXPECT_THAT(log_.at_violation().holds, IsEmpty());
}

// A client alone on a key of its own shows nothing.
TEST_F(hold_logs, first_are_of_the_first_key_that_changes_hands) {
  checker_.window_begins(0);
  hold(1, 10, 20, 7);
  hold(2, 11, 21, 8);
  hold(1, 30, 40, 7);
  EXPECT_THAT(log_.first().holds, IsEmpty());
  hold(3, 50, 60, 8);
  hold(2, 70, 80, 7);
  EXPECT_EQ(log_.first().key, 8U);
  EXPECT_THAT(begins(log_.first()), ElementsAre(11, 50));
}

TEST_F(hold_logs, first_are_so_many) {
  checker_.window_begins(0);
  for (std::uint32_t i = 0; i < 1'000; ++i) hold(i % 2, 10 * i, 10 * i + 5);
  EXPECT_THAT(log_.first().holds, SizeIs(hold_log::most));
  EXPECT_EQ(log_.first().holds.front().granted_ns, 0);
}

TEST_F(hold_logs, first_may_show_the_violation) {
  checker_.window_begins(0);
  hold(1, 10, 20);
  grant(2, 30);
  grant(3, 35);
  release(2, 50);
  release(3, 60);
  EXPECT_THAT(begins(log_.first()), ElementsAre(10, 30, 35));
  EXPECT_THAT(log_.first().overlaps, ElementsAre(Pair(35, 50)));
  EXPECT_THAT(log_.at_violation().holds, IsEmpty());
}

// Long after the first holds, on whatever key: what came before, and what came after.
TEST_F(hold_logs, around_the_first_violation) {
  checker_.window_begins(0);
  std::int64_t at_ns = 0;
  for (std::uint32_t i = 0; i < 1'000; ++i, at_ns += 10) hold(i % 2, at_ns, at_ns + 5);
  for (std::uint32_t i = 0; i < 3; ++i, at_ns += 10) hold(i % 2, at_ns, at_ns + 5, 9);
  grant(1, at_ns, 9);
  grant(2, at_ns + 1, 9);
  release(2, at_ns + 3, 9);
  release(1, at_ns + 5, 9);
  for (std::uint32_t i = 0; i < 1'000; ++i) hold(i % 2, at_ns + 10 + i, at_ns + 11 + i, 9);
  const holds_of_key around = log_.at_violation();
  EXPECT_EQ(around.key, 9U);
  ASSERT_THAT(around.holds, SizeIs(hold_log::most));
  EXPECT_EQ(around.holds.front().granted_ns, at_ns - 30);
  EXPECT_EQ(around.holds[3].client, 2U);
  EXPECT_THAT(around.overlaps, ElementsAre(Pair(at_ns + 1, at_ns + 3)));
  EXPECT_THAT(log_.first().overlaps, IsEmpty());
}

// One was stopped while hundreds of others held the key.
TEST_F(hold_logs, a_long_hold_is_shown_though_it_ended_late) {
  checker_.window_begins(0);
  grant(7, 5);
  for (std::uint32_t i = 1; i <= 300; ++i) hold(i % 2, 10 * i, 10 * i + 5);
  release(7, 5'000);
  const holds_of_key around = log_.at_violation();
  ASSERT_THAT(around.holds, SizeIs(hold_log::most / 2));
  EXPECT_EQ(around.holds.back().client, 7U);
  EXPECT_THAT(around.overlaps, SizeIs(hold_log::most));
}

}  // namespace
}  // namespace lockmark::check
