#include "harness/check/event_ring.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

namespace lockmark::check {
namespace {

// The i-th event of a stream, distinct from all others.
event numbered(std::int64_t i) {
  return {i, static_cast<std::uint64_t>(3 * i), static_cast<std::uint32_t>(i % 7),
          static_cast<std::uint32_t>(i % 5), event_kind::granted};
}

bool is_numbered(const event& e, std::int64_t i) {
  const event expected = numbered(i);
  return e.at_ns == expected.at_ns && e.token == expected.token && e.key == expected.key &&
         e.client == expected.client && e.kind == expected.kind;
}

struct ring {
  explicit ring(std::size_t places) : room(places), writer(state, room), reader(state, room) {}
  ring_state state;
  std::vector<event> room;
  event_writer writer;
  event_reader reader;
};

TEST(event_ring, gives_what_it_was_given_round_after_round) {
  ring r(8);
  std::vector<event> got;
  for (std::int64_t i = 0; i < 100; ++i) {
    r.writer.push(numbered(i));
    if (i % 5 == 4) r.reader.read(got);
  }
  r.reader.read(got);
  ASSERT_EQ(got.size(), 100u);
  for (std::int64_t i = 0; i < 100; ++i) {
    EXPECT_TRUE(is_numbered(got[static_cast<std::size_t>(i)], i)) << i;
  }
  EXPECT_FALSE(r.reader.overflowed());
}

// A noted event is readable at once; the promise only tells how far events can be merged.
TEST(event_ring, shows_events_before_they_are_promised) {
  ring r(8);
  std::vector<event> got;
  r.writer.push(numbered(1));
  EXPECT_EQ(r.reader.read(got), 0);
  EXPECT_EQ(got.size(), 1u);
  r.writer.promise(50);
  EXPECT_EQ(r.reader.read(got), 50);
}

// After the first lost event, no further event and no promise: what was read is a prefix without
// gaps.
TEST(event_ring, says_so_when_it_was_full) {
  ring r(4);
  for (std::int64_t i = 0; i < 4; ++i) r.writer.push(numbered(i));
  r.writer.promise(3);
  EXPECT_FALSE(r.reader.overflowed());
  r.writer.push(numbered(4));
  r.writer.promise(5);
  EXPECT_TRUE(r.reader.overflowed());
  std::vector<event> got;
  EXPECT_EQ(r.reader.read(got), 3);
  r.writer.push(numbered(5));
  r.writer.promise(6);
  EXPECT_EQ(r.reader.read(got), 3);
  EXPECT_EQ(got.size(), 4u);
}

// Two threads stand in for two processes: no event torn, none missing, every promise kept.
TEST(event_ring, keeps_its_promises_between_threads) {
  constexpr std::int64_t many = 50'000;
  ring r(1024);
  std::thread writer([&r] {
    for (std::int64_t i = 1; i <= many; ++i) {
      while (r.state.written.load() - r.state.read.load() >= 1024) std::this_thread::yield();
      r.writer.push(numbered(i));
      if (i % 10 == 0) r.writer.promise(i);
    }
    r.writer.promise(INT64_MAX);
  });
  std::vector<event> got;
  std::int64_t next = 1, promised = 0;
  while (promised != INT64_MAX) {
    got.clear();
    promised = r.reader.read(got);
    for (const event& e : got) ASSERT_TRUE(is_numbered(e, next++));
    if (promised != INT64_MAX) {
      ASSERT_GT(next, promised);
    }
  }
  writer.join();
  EXPECT_EQ(next, many + 1);
  EXPECT_FALSE(r.reader.overflowed());
}

// A journal with an outlet does not hold events back until it publishes.
TEST(journal, passes_on_at_once_what_it_has_an_outlet_for) {
  ring r(8);
  journal j(&r.writer);
  j.note(numbered(1));
  std::vector<event> got;
  r.reader.read(got);
  EXPECT_EQ(got.size(), 1u);
  j.publish(20);
  EXPECT_EQ(r.reader.read(got), 20);
  EXPECT_EQ(j.pending(), 0u);
}

}  // namespace
}  // namespace lockmark::check
