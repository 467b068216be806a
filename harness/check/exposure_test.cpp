#include "harness/check/exposure.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "harness/check/exclusion.hpp"
#include "harness/outcome.hpp"

namespace lockmark::check {
namespace {

using enum event_kind;

// Plays a history on one key, an event after the other.
struct played {
  explicit played(std::uint32_t holders = 1, std::size_t competitors = 4)
      : seen(1, 4, competitors, holders) {}

  void wants(std::uint32_t client) { seen.began({++at_ns, 0, 0, client, began}); }
  void gets(std::uint32_t client) { seen.granted({++at_ns, 0, 0, client, granted}); }
  void is_told(std::uint32_t client, refusal r) {
    seen.refused({++at_ns, static_cast<std::uint64_t>(r), 0, client, refused});
  }
  void gives_up(std::uint32_t client) { seen.ended({++at_ns, 0, 0, client, ended}); }
  void releases(std::uint32_t client, bool lasted = true) {
    seen.released({++at_ns, 0, 0, client, released, lasted});
  }

  exposure seen;
  std::int64_t at_ns = 0;
};

// A poller is refused twice while another client holds: two answers that could have been grants.
TEST(exposure, every_answer_during_a_hold_is_a_chance) {
  played p;
  p.wants(0);
  p.gets(0);
  p.wants(1);
  p.is_told(1, refusal::busy);
  p.is_told(1, refusal::busy);
  p.releases(0);
  EXPECT_EQ(p.seen.chances(), 2U);
  p.gets(1);
  p.releases(1);
  EXPECT_EQ(p.seen.chances(), 2U);
}

// A waiter that the server keeps in line is one chance, however many holds it waits through.
TEST(exposure, a_request_that_waits_through_holds_counts_once) {
  played p;
  p.wants(0);
  p.gets(0);
  p.wants(1);
  p.wants(2);
  p.releases(0);
  EXPECT_EQ(p.seen.chances(), 2U);
  p.gets(1);
  p.releases(1);
  p.gets(2);
  p.releases(2);
  EXPECT_EQ(p.seen.chances(), 2U);
  EXPECT_EQ(p.seen.lasting_holds(), 3U);
}

// Readers meet nobody in each other; a writer meets them, and they meet a writer.
TEST(exposure, readers_are_a_chance_for_writers_only) {
  exposure seen(1, 3, 3, 1);
  auto tell = [&, at_ns = std::int64_t{0}](event_kind kind, std::uint32_t client,
                                           bool shared) mutable {
    const event e{++at_ns, 0, 0, client, kind, kind == released, shared};
    if (kind == began) seen.began(e);
    if (kind == granted) seen.granted(e);
    if (kind == released) seen.released(e);
  };
  tell(began, 0, true);
  tell(granted, 0, true);
  tell(began, 1, true);
  tell(granted, 1, true);
  EXPECT_EQ(seen.chances(), 0U);
  tell(began, 2, false);
  tell(released, 0, true);
  EXPECT_EQ(seen.chances(), 1U);  // the writer waited while a reader held
  tell(released, 1, true);
  tell(granted, 2, false);
  tell(began, 0, true);
  tell(released, 2, false);
  EXPECT_EQ(seen.chances(), 2U);  // and then a reader while the writer did
}

// A commit, or a history that was cut, leaves a request without an answer; its client's next one
// may be for another key.
TEST(exposure, a_request_without_an_end_ends_with_the_next_one) {
  exposure seen(2, 3, 3, 1);
  for (const std::uint32_t client : {0U, 1U, 2U}) seen.began({1, 0, 0, client, began});
  seen.began({2, 0, 1, 2, began});
  seen.granted({3, 0, 0, 0, granted});
  seen.granted({4, 0, 1, 2, granted});
  seen.released({5, 0, 0, 0, released, true});
  EXPECT_EQ(seen.chances(), 1U);  // client 1 waited for key 0; client 2 no longer did
}

// Whatever the server told the second client meanwhile is read when the hold is over.
TEST(exposure, a_hold_within_one_turn_gives_no_chance) {
  played p;
  p.wants(0);
  p.wants(1);
  p.gets(0);
  p.releases(0, false);
  p.gets(1);
  p.releases(1, false);
  EXPECT_EQ(p.seen.chances(), 0U);
  EXPECT_EQ(p.seen.lasting_holds(), 0U);
}

// But an answer that another thread did read in between is one.
TEST(exposure, an_answer_within_a_short_hold_counts) {
  played p;
  p.wants(0);
  p.wants(1);
  p.gets(0);
  p.gets(1);
  p.releases(0, false);
  p.releases(1, false);
  EXPECT_EQ(p.seen.chances(), 1U);
}

TEST(exposure, a_semaphore_counts_while_others_have_all_places) {
  played p{2};
  p.wants(0);
  p.gets(0);
  p.wants(2);
  p.is_told(2, refusal::busy);
  EXPECT_EQ(p.seen.chances(), 0U);
  p.wants(1);
  p.gets(1);
  p.gets(1);  // a second place of the same client is no second client
  p.is_told(2, refusal::busy);
  EXPECT_EQ(p.seen.chances(), 1U);
  p.releases(0);
  p.is_told(2, refusal::busy);
  EXPECT_EQ(p.seen.chances(), 1U);
}

TEST(exposure, who_excludes_nobody_has_no_chances) {
  for (played p : {played{0}, played{1, 1}}) {
    p.wants(0);
    p.gets(0);
    p.wants(1);
    p.is_told(1, refusal::busy);
    p.gets(1);
    p.releases(0);
    p.releases(1);
    EXPECT_EQ(p.seen.chances(), 0U);
    EXPECT_EQ(p.seen.lasting_holds(), 2U);
  }
}

// No server decided anything, or nobody knows.
TEST(exposure, what_was_not_answered_is_no_chance) {
  played p;
  p.wants(0);
  p.gets(0);
  p.wants(1);
  p.is_told(1, refusal::unavailable);
  EXPECT_EQ(p.seen.chances(), 0U);
  p.gives_up(1);
  p.releases(0);
  EXPECT_EQ(p.seen.chances(), 0U);
}

TEST(exposure, a_commit_that_met_another_is_a_chance) {
  played p{1, 1};
  p.wants(0);
  p.is_told(0, refusal::conflict);
  EXPECT_EQ(p.seen.chances(), 1U);
}

// What the verdict claims: a lock that turns a refusal into a grant with probability p is found
// about p times as often as there were chances. Here a poller asks at random instants of a hold
// that lasts half of the time.
TEST(exposure, the_share_of_wrong_grants_is_what_is_found) {
  constexpr double wrong = 0.02;
  std::mt19937_64 random(7);
  std::bernoulli_distribution held(0.5), errs(wrong);
  exposure seen(1, 2, 2, 1);
  exclusion judge(1);
  std::int64_t at_ns = 0;
  std::uint64_t errors = 0;
  for (int n = 0; n < 20'000; ++n) {
    const bool is_held = held(random);
    const auto tell = [&](const event& e) {
      if (e.kind == granted) {
        seen.granted(e);
        judge.granted(e);
      } else if (e.kind == released) {
        seen.released(e);
        judge.released(e);
      }
    };
    if (is_held) tell({++at_ns, 0, 0, 0, granted});
    seen.began({++at_ns, 0, 0, 1, began});
    if (is_held && !errs(random)) {
      seen.refused({++at_ns, static_cast<std::uint64_t>(refusal::busy), 0, 1, refused});
    } else {
      errors += is_held ? 1 : 0;
      tell({++at_ns, 0, 0, 1, granted});
      at_ns += 10;
      tell({++at_ns, 0, 0, 1, released, true});
    }
    if (is_held) tell({++at_ns, 0, 0, 0, released, true});
  }
  EXPECT_EQ(judge.certain(), errors);
  EXPECT_GT(errors, 100U);
  EXPECT_NEAR(static_cast<double>(seen.chances()) * wrong, static_cast<double>(errors),
              4 * std::sqrt(static_cast<double>(errors)));
}

}  // namespace
}  // namespace lockmark::check
