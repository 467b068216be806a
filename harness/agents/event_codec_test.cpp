#include "harness/agents/event_codec.hpp"

#include <gtest/gtest.h>

namespace lockmark::agents {
namespace {

using check::event;
using check::event_kind;

std::int64_t as_it_is(std::int64_t ns) {
  return ns;
}

bool same(const event& a, const event& b) {
  return a.at_ns == b.at_ns && a.token == b.token && a.key == b.key && a.client == b.client &&
         a.kind == b.kind && a.lasted == b.lasted && a.shared == b.shared && a.cut == b.cut &&
         a.pipe_ns == b.pipe_ns;
}

std::vector<event> some_of_each_kind() {
  std::vector<event> all;
  for (std::uint8_t k = 0; k <= static_cast<std::uint8_t>(event_kind::promised); ++k) {
    event e;
    e.at_ns = 5'000'000'000'000 + 40 * (k / 2);
    e.token = ~std::uint64_t{0} - k;
    e.key = 7U * k;
    e.client = 4'000'000'000U + k;
    e.kind = static_cast<event_kind>(k);
    e.lasted = k % 2 == 1;
    e.shared = k % 3 == 1;
    e.cut = k % 5 == 1;
    e.pipe_ns = 100U * k;
    all.push_back(e);
  }
  return all;
}

TEST(event_codec, what_was_written_is_read) {
  const auto all = some_of_each_kind();
  wire::Events columns;
  append({all.data(), 4}, columns);  // in two parts, as reports grow
  append({all.data() + 4, all.size() - 4}, columns);
  const auto read = read_events(columns, as_it_is);
  ASSERT_EQ(read.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_TRUE(same(read[i], all[i])) << i;
}

// A promise is a time: it moves with its event's.
TEST(event_codec, promised_times_are_on_the_readers_clock) {
  const event e{.at_ns = 1'000, .token = 1'700, .kind = event_kind::promised};
  wire::Events columns;
  append({&e, 1}, columns);
  const auto read = read_events(columns, [](std::int64_t ns) { return ns + 50; });
  EXPECT_EQ(read.at(0).at_ns, 1'050);
  EXPECT_EQ(read.at(0).token, 1'750U);
}

TEST(event_codec, nonsense_is_refused) {
  wire::Events columns;
  const auto all = some_of_each_kind();
  append(all, columns);
  columns.add_key(1);
  EXPECT_THROW(read_events(columns, as_it_is), std::runtime_error);
  columns.mutable_key()->RemoveLast();
  columns.set_kind(0, 15);
  EXPECT_THROW(read_events(columns, as_it_is), std::runtime_error);
}

}  // namespace
}  // namespace lockmark::agents
