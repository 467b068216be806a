// What the checks make of events of hosts whose clocks differ.
#include "harness/check/clock_errors.hpp"

#include <gtest/gtest.h>

#include "harness/check/exclusion.hpp"
#include "harness/check/handoff.hpp"
#include "harness/check/token_order.hpp"

namespace lockmark::check {
namespace {

using enum event_kind;

// Odd clients are on one host, even ones on another, whose clocks may differ by 20 ns.
struct two_hosts final : clock_errors {
  std::int64_t between(std::uint32_t client, std::uint32_t other, std::int64_t) const override {
    return client % 2 == other % 2 ? 0 : 20;
  }
};

// The short form: when the second was granted, and between which clients.
TEST(exclusion, says_when_and_between_whom) {
  const two_hosts clocks;
  exclusion x(1, &clocks);
  x.granted({100, 0, 0, 1, granted});
  x.granted({150, 0, 0, 2, granted});
  x.released({180, 0, 0, 1, released});
  x.granted({290, 0, 0, 3, granted});
  x.released({300, 0, 0, 2, released});  // 10 ns of overlap with the third: only possible
  x.finish(400);
  ASSERT_EQ(x.overlaps().size(), 1U);
  EXPECT_EQ(x.overlaps()[0].at_ns, 150);
  EXPECT_EQ(x.overlaps()[0].first_client, 1U);
  EXPECT_EQ(x.overlaps()[0].second_client, 2U);
}

// An overlap within the error of two hosts' clocks is possible, not certain.
TEST(exclusion, an_overlap_within_the_clock_error_is_only_possible) {
  const two_hosts clocks;
  exclusion x(1, &clocks);
  x.granted({100, 0, 0, 1, granted});
  x.granted({190, 0, 0, 2, granted});
  x.released({200, 0, 0, 1, released});
  x.granted({250, 0, 0, 1, granted});
  x.released({300, 0, 0, 1, released});
  x.released({400, 0, 0, 2, released});
  EXPECT_EQ(x.possible(), 1U);
  EXPECT_EQ(x.certain(), 1U);
}

// On one host there is no error.
TEST(exclusion, a_short_overlap_on_one_host_is_certain) {
  const two_hosts clocks;
  exclusion x(1, &clocks);
  x.granted({100, 0, 0, 1, granted});
  x.granted({199, 0, 0, 3, granted});
  x.released({200, 0, 0, 1, released});
  x.released({300, 0, 0, 3, released});
  EXPECT_EQ(x.certain(), 1U);
}

// Of two grants within the clocks' error nobody knows which was first.
TEST(token_order, a_lower_token_within_the_clock_error_is_not_stale) {
  const two_hosts clocks;
  token_order t(1, 4, 1, &clocks);
  t.granted({100, 5, 0, 1, granted});
  t.granted({110, 4, 0, 2, granted});
  EXPECT_EQ(t.stale(), 0U);
  t.granted({121, 4, 0, 2, granted});
  EXPECT_EQ(t.stale(), 1U);
  t.granted({122, 4, 0, 3, granted});
  EXPECT_EQ(t.stale(), 2U);
}

// A grant that seems to precede the release that it follows says nothing of how long it took.
TEST(handoffs, of_a_grant_before_its_release_are_unknown) {
  const auto hand_over = [](bool clocks_differ) {
    handoffs h(1, clocks_differ);
    h.granted({100, 0, 0, 1, granted});
    h.released({200, 0, 0, 1, released});
    h.granted({300, 0, 0, 1, granted});
    h.began({310, 0, 0, 2, began});
    return h.granted({390, 0, 0, 2, granted}).kind;  // and client 1 released at 391
  };
  EXPECT_EQ(hand_over(true), handoff_kind::first);
  EXPECT_NE(hand_over(false), handoff_kind::first);
}

}  // namespace
}  // namespace lockmark::check
