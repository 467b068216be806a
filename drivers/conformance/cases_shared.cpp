// Locks with several holders: semaphores, and read-write locks.
#include <algorithm>

#include "drivers/conformance/cases.hpp"

namespace lockmark::conformance::cases {
namespace {

constexpr std::uint32_t many = 2 * clients_per_session;

// Joins `owners` owners of several sessions.
task<std::vector<party>> join_many(stage& s, std::uint32_t owners) {
  std::vector<party> all;
  for (std::uint32_t n = 0; n < owners; ++n) {
    if (n % clients_per_session == 0) {
      const party first = co_await s.join();
      all.push_back(first);
    } else {
      all.push_back(all[n - n % clients_per_session].other_client(n % clients_per_session));
    }
  }
  co_return all;
}

task<void> all_give_up(const std::vector<party>& owners) {
  for (const party& p : owners) co_await p.give_up();
}

// Holds the key until the expected number of holders is reached.
task<void> meet(party who, std::uint32_t expected, std::uint32_t& inside, time_point& first_at) {
  co_await who.take();
  if (inside++ == 0) first_at = who.on->l().now();
  const time_point end = who.on->in(patience);
  while (inside < expected && who.on->l().now() < end) co_await who.on->l().sleep_for(2ms);
  EXPECT_EQ(inside, expected) << "they should all be inside at once";
  co_await who.give_up();
}

task<void> hammer_both(stage& s, hammering how) {
  const two_halves both{s.direct(), s.about().kind, s.writers(), s.about().writer};
  how.holders = s.holders();
  how.cycles = 150;
  hammering whole = how;
  whole.cycles *= 2;  // both halves together
  judge(s, whole, [&] { return hammer(both, how); });
  co_return;
}

}  // namespace

// Owners of several sessions hold one key at once: eight, or as many as allowed.
task<void> holders_share(stage& s) {
  const std::uint32_t places = s.holders() == 0 ? many : std::min(s.holders(), many);
  const auto owners = co_await join_many(s, places);
  for (int round = 0; round < 2; ++round) {
    for (const party& p : owners) co_await p.take(s.about().tolerance);
    co_await all_give_up(owners);
  }
}

// When all places are taken, one more client is kept out. A release makes room for one, not for
// two; and afterwards the number of places is unchanged.
task<void> holders_are_limited(stage& s) {
  const auto owners = co_await join_many(s, s.holders());
  const party extra = co_await s.join();
  for (int round = 0; round < 2; ++round) {
    for (const party& p : owners) co_await p.take(s.about().tolerance);
    co_await extra.is_kept_out();
    co_await owners.front().give_up();
    co_await extra.take(s.about().tolerance);
    co_await owners.front().is_kept_out();
    co_await extra.other_client(1).is_kept_out();
    co_await extra.give_up();
    for (std::size_t n = 1; n < owners.size(); ++n) co_await owners[n].give_up();
  }
}

// A reader keeps the writer out for as long as it holds; a writer that timed out keeps nobody out.
task<void> readers_keep_writer_out(stage& s) {
  const party one = co_await s.join();
  const party two = co_await s.join();
  const party writer = co_await s.join_rival();
  co_await one.take();
  co_await writer.is_kept_out();
  co_await two.take(s.about().tolerance);
  co_await one.give_up();
  co_await writer.is_kept_out();
  co_await two.give_up();
  co_await writer.take(s.about().tolerance);
  co_await writer.give_up();
}

// While a writer holds, all others are kept out.
task<void> writer_keeps_readers_out(stage& s) {
  const party one = co_await s.join();
  const party two = co_await s.join();
  const party writer = co_await s.join_rival();
  const party other_writer = co_await s.join_rival();
  co_await writer.take();
  co_await one.is_kept_out();
  co_await two.is_kept_out();
  co_await other_writer.is_kept_out();
  co_await writer.give_up();
  co_await one.take(s.about().tolerance);
  co_await two.take(s.about().tolerance);
  co_await one.give_up();
  co_await two.give_up();
}

// Readers that wait for a writer get the key soon after its release, not before, and all together.
task<void> readers_after_writer(stage& s) {
  const auto readers = co_await join_many(s, many);
  const party writer = co_await s.join_rival();
  co_await writer.take();
  std::uint32_t inside = 0;
  time_point first_at{};
  time_point given_up_at{};
  scope everybody{s.l()};
  for (const party& r : readers) everybody.spawn(meet(r, many, inside, first_at));
  everybody.spawn(give_up_later(writer, 60ms, given_up_at));
  co_await everybody.join();
  EXPECT_GE(first_at, given_up_at) << "a reader got in while the writer was inside";
  EXPECT_LE(first_at - given_up_at, s.about().tolerance) << "the hand-over took too long";
  co_await writer.take(s.about().tolerance);
  co_await writer.give_up();
}

// A vanished writer makes room for readers as soon as its lock promises.
task<void> readers_after_a_lost_writer(stage& s) {
  const party reader = co_await s.join();
  if (s.about().writer.has.has(feature::lease) && !s.about().renews_itself) {
    const party writer = (co_await s.join_rival()).with_short_lease();
    const grant until = co_await writer.take();
    co_await reader.take(s.about().lease + s.about().tolerance);
    EXPECT_GE(s.l().now(), until.valid_until - 5ms) << "a reader got in while the grant was valid";
    co_await reader.give_up();
  }
  if (s.about().writer.has.has(feature::session_bound)) {
    const party writer = co_await s.join_rival();
    co_await writer.take();
    co_await s.leave(writer.in);
    co_await reader.take(s.about().tolerance);
    co_await reader.give_up();
  }
}

// Readers and writers contend for one key: a writer never holds it together with anybody.
task<void> readers_and_writers_hammered(stage& s) {
  co_await hammer_both(s, {});
}

task<void> readers_and_writers_hammered_by_two_threads(stage& s) {
  co_await hammer_both(s, {.threads = 2, .keys = 2});
}

}  // namespace lockmark::conformance::cases
