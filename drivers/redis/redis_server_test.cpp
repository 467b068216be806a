// The Redis locks against a real server: REDIS_URL's until the local servers can be started here.
#include <gtest/gtest.h>

#include "drivers/redis/redis.hpp"
#include "harness/async/scope.hpp"

namespace lockmark::redis {
namespace {

using namespace std::chrono_literals;

constexpr auto lease = 30s;

struct redis_locks : testing::Test {
  real_clock clock;
  loop l{clock};
  std::string url = std::getenv("REDIS_URL");

  std::unique_ptr<driver> make(const lock_kind& k) {
    driver_setup setup{.target = url, .run_names = {"t1", {"a", "b"}}, .options = {}};
    for (const auto& o : k.options) setup.options.emplace(o.name, o.preset);
    return k.make(setup);
  }
};

task<void> cycle(loop& l, driver& d) {
  const auto soon = l.now() + 5s;
  const auto about = co_await d.prepare(l, soon);
  for (const auto& [k, v] : about) std::printf("%s=%s\n", k.c_str(), v.c_str());
  instance who{.id = "inst", .clients = 2};
  const auto s = co_await d.open(l, who, soon);
  const request mine{.key = 0, .client = 0, .lease = lease, .deadline = soon};
  const request other{.key = 0, .client = 1, .lease = lease, .deadline = soon};
  const auto first = co_await s->acquire(mine);
  EXPECT_TRUE(first.done());
  const auto second = co_await s->acquire(other);
  EXPECT_TRUE(second.refused(refusal::busy));
  const auto given = co_await s->release(mine);
  EXPECT_TRUE(given.done());
  const auto third = co_await s->acquire(other);
  EXPECT_TRUE(third.done());
  const auto given_too = co_await s->release(other);
  EXPECT_TRUE(given_too.done());
  co_await s->close();
  const auto counters = co_await d.counters(l, soon);
  for (const auto& [k, v] : counters) std::printf("%s=%lu\n", k.c_str(), v);
  co_await d.wipe(l, soon);
}

// Two clients of one instance take turns.
TEST_F(redis_locks, take_turns) {
  for (const auto& k : kinds()) {
    SCOPED_TRACE(k.name);
    const auto d = make(k);
    run_to_end(l, cycle(l, *d));
  }
}

}  // namespace
}  // namespace lockmark::redis
