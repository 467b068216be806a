// Without faults the wrapped locks pass the suite; each fault has the effect that it is made for.
#include "drivers/faulty/faulty.hpp"

#include <gtest/gtest.h>

#include "drivers/conformance/conformance.hpp"
#include "harness/async/scope.hpp"

namespace lockmark::faulty {
namespace {

using namespace std::chrono_literals;
using options = std::map<std::string, std::string, std::less<>>;

struct faulty_lock : testing::Test {
  std::unique_ptr<driver> make(const options& given, std::size_t which = 0) {
    kind = kinds()[which];
    return kind.make({"memory:", {"run", {"a", "b"}}, given});
  }

  lock_kind kind{};
  simulated_clock clock;
  loop l{clock};
};

request by(std::uint32_t client, time_point deadline = time_point{1h}) {
  return {.client = client, .lease = 1h, .deadline = deadline};
}

task<std::unique_ptr<session>> open(loop& l, driver& d) {
  return d.open(l, {.id = "one", .clients = 4}, time_point{1s});
}

// The exclusion check of the suite sees two holders, and the same clients without the fault none.
TEST_F(faulty_lock, two_holders_are_caught_by_the_hammer) {
  const conformance::hammering how{.cycles = 200};
  const auto broken = conformance::hammer(*make({{"two_holders", "7"}}), kind, how);
  EXPECT_GT(broken.overlaps, 0U);
  const auto sound = conformance::hammer(*make({}), kind, how);
  EXPECT_EQ(sound.overlaps, 0U);
  EXPECT_EQ(sound.tokens_fell, 0U);
}

// So are stale tokens, and nothing else.
TEST_F(faulty_lock, stale_tokens_are_caught_by_the_hammer) {
  const auto stale = conformance::hammer(*make({{"stale_token", "5"}}), kind, {.cycles = 200});
  EXPECT_GT(stale.tokens_fell, 0U);
  EXPECT_EQ(stale.overlaps, 0U);
}

task<void> lose_updates(loop& l, driver& d, std::uint64_t& told) {
  const auto s = co_await open(l, d);
  for (int round = 0; round < 3; ++round) {
    for (std::uint32_t c = 0; c < 2; ++c) (void)co_await s->acquire(by(c));
    for (std::uint32_t c = 0; c < 2; ++c) {
      const auto gone = co_await s->release(by(c));
      if (gone.done()) ++told;
    }
  }
  const auto seen = co_await d.commits(l, time_point{1s});
  EXPECT_EQ(seen.at(0), 3U);
  co_await s->close();
}

// Three conflicts, every third reported as committed: one commit more than the server knows of.
TEST_F(faulty_lock, lost_updates_are_told_as_commits) {
  std::uint64_t told = 0;
  const auto d = make({{"lost_updates", "3"}}, 1);
  run_to_end(l, lose_updates(l, *d, told));
  EXPECT_EQ(told, 4U);
}

task<void> count_thefts(loop& l, driver& d, std::vector<bool>& granted) {
  const auto s = co_await open(l, d);
  (void)co_await s->acquire(by(0));
  for (int n = 0; n < 4; ++n) {
    const auto got = co_await s->acquire(by(1, l.now() + 1ms));
    granted.push_back(got.done());
    const auto gone = co_await s->release(by(1));
    EXPECT_EQ(gone.done(), got.done());
  }
  co_await s->close();
}

// Thefts are counted: exactly every second acquire that finds a holder.
TEST_F(faulty_lock, two_holders_are_deterministic) {
  std::vector<bool> granted;
  const auto d = make({{"two_holders", "2"}});
  run_to_end(l, count_thefts(l, *d, granted));
  EXPECT_EQ(granted, (std::vector{false, true, false, true}));
}

// Whether the client got the key.
task<bool> asks(loop& l, session& s, std::uint32_t client) {
  const auto got = co_await s.acquire(by(client, l.now() + 1ms));
  co_return got.done();
}

task<void> meet_a_thief(loop& l, driver& d) {
  const auto s = co_await open(l, d);
  EXPECT_TRUE(co_await asks(l, *s, 0));
  EXPECT_FALSE(co_await asks(l, *s, 1));
  EXPECT_TRUE(co_await asks(l, *s, 1));  // the second that found the key taken
  (void)co_await s->release(by(0));
  EXPECT_TRUE(co_await asks(l, *s, 2));  // free for the lock inside, and yet the thief's
  EXPECT_TRUE(co_await asks(l, *s, 3));  // so this is the fourth
  co_await s->close();
}

// A thief holds the key like others: who asks next has met a holder, as the checks will see it.
TEST_F(faulty_lock, who_was_let_in_wrongly_is_met_by_others) {
  const auto d = make({{"two_holders", "2"}});
  run_to_end(l, meet_a_thief(l, *d));
}

task<void> acquire_twice(loop& l, driver& d, std::vector<std::string_view>& endings) {
  const auto s = co_await open(l, d);
  const auto got = co_await s->acquire(by(0));
  endings.push_back(got.in_doubt() ? name_of(got.why_in_doubt()) : "known");
  const auto gone = co_await s->release(by(0));
  endings.push_back(gone.in_doubt() ? name_of(gone.why_in_doubt()) : "known");
  co_await s->close();
}

// A lost reply leaves its caller in doubt, although the call was made.
TEST_F(faulty_lock, lost_replies_end_in_doubt) {
  std::vector<std::string_view> endings;
  const auto d = make({{"lost_replies", "1"}});
  run_to_end(l, acquire_twice(l, *d, endings));
  EXPECT_EQ(endings, (std::vector<std::string_view>(2, "doubt: connection lost")));
}

task<void> stamp_calls(loop& l, driver& d, std::vector<time_point>& ended) {
  const auto s = co_await open(l, d);
  for (int n = 0; n < 4; ++n) {
    (void)co_await s->acquire(by(0));
    ended.push_back(l.now());
    co_await l.sleep_for(20ms);
  }
  const auto late = co_await s->release(by(0, l.now() + 1ms));
  EXPECT_TRUE(late.refused(refusal::deadline));
  co_await s->close();
}

// Each call takes its delay; a call within the stall ends with the stall; a call whose deadline is
// shorter than its delay is refused in time.
TEST_F(faulty_lock, delays_and_stalls_by_the_clock) {
  std::vector<time_point> ended;
  const auto d = make({{"delay", "10ms"}, {"stall_at", "35ms"}, {"stall_for", "1s"}});
  run_to_end(l, stamp_calls(l, *d, ended));
  EXPECT_EQ(ended, (std::vector{time_point{10ms}, time_point{1035ms}, time_point{1065ms},
                                time_point{1095ms}}));
}

// Durations are whole numbers with a unit.
TEST(read_duration, takes_units_and_nothing_else) {
  duration d{};
  EXPECT_TRUE(read_duration("1400ms", d));
  EXPECT_EQ(d, 1400ms);
  EXPECT_TRUE(read_duration("7us", d));
  EXPECT_EQ(d, 7us);
  EXPECT_TRUE(read_duration("2s", d));
  EXPECT_EQ(d, 2s);
  EXPECT_TRUE(read_duration("0", d));
  EXPECT_EQ(d, 0s);
  for (const auto* wrong : {"", "5", "ms", "1.5s", "-1s", "1 s", "9999999999999999s", "1h"}) {
    EXPECT_FALSE(read_duration(wrong, d)) << wrong;
  }
}

// The option table accepts the presets, and no nonsense.
TEST(options, presets_are_accepted_and_nonsense_is_not) {
  for (const lock_kind& kind : kinds()) {
    for (const lock_option& o : kind.options) {
      EXPECT_TRUE(o.accepts(o.preset)) << o.name;
      EXPECT_FALSE(o.accepts("often")) << o.name;
      EXPECT_FALSE(o.accepts("-1")) << o.name;
    }
  }
}

}  // namespace
}  // namespace lockmark::faulty

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (const lockmark::lock_kind& kind : lockmark::faulty::kinds()) {
    lockmark::conformance::add({.kind = kind, .target = "memory:", .in_process = true});
  }
  return RUN_ALL_TESTS();
}
