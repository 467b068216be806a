// No hold of many is forgotten, under simulated time and without a server.
#include "drivers/redis/watchdog.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>

#include "drivers/redis/target.hpp"

namespace lockmark::redis {
namespace {

using namespace std::chrono_literals;
using hold = watchdog::hold;

// A distant server that drops keys that are not renewed in time.
struct far_server {
  duration lease = 300ms;
  duration away = 1ms;  // one way
  std::map<hold, time_point> keys{};
  int lost = 0;
  int under_way = 0;
  int most = 0;
  std::string broken{};    // the sentence of the next answer
  bool is_silent = false;  // executes nothing and does not answer
};

task<outcome<reply>> extend_far_away(loop& l, far_server& s, const std::vector<hold>& some,
                                     duration lease, time_point deadline) {
  s.most = std::max(s.most, ++s.under_way);
  co_await l.sleep_for(s.away);
  if (s.is_silent) {
    co_await l.sleep_until(deadline);
    --s.under_way;
    co_return doubt::deadline;
  }
  reply r;
  r.what = reply::kind::array;
  for (const hold& h : some) {
    auto& ends = s.keys[h];
    reply one;
    one.what = reply::kind::integer;
    one.number = l.now() <= ends ? 1 : 0;
    s.lost += one.number == 0 ? 1 : 0;
    if (one.number == 1) ends = l.now() + lease;
    r.parts.push_back(one);
  }
  co_await l.sleep_for(s.away);
  --s.under_way;
  if (!s.broken.empty()) throw no_server(s.broken);
  co_return r;
}

struct watchdog_test : testing::Test {
  watchdog make(std::uint32_t clients, std::size_t batch) {
    return {l,
            at,
            sent,
            clients,
            batch,
            [this](connection&, const std::vector<hold>& some, duration lease, time_point by) {
              return extend_far_away(l, far, some, lease, by);
            }};
  }
  void take(watchdog& dog, hold h) {
    far.keys[h] = l.now() + far.lease;
    dog.add(h, far.lease, l.now() + far.lease);
  }
  // Each client takes a key and holds it for this long.
  task<void> hold_for(watchdog& dog, std::uint32_t clients, duration how_long) {
    for (std::uint32_t i = 0; i < clients; ++i) take(dog, {i, i});
    co_await l.sleep_for(how_long);
    for (const auto& [h, ends] : far.keys) {
      if (ends < l.now()) ++far.lost;
    }
    co_await dog.close();
  }

  simulated_clock clock;
  loop l{clock};
  target where = parse_targets("redis://far:6379").front();
  traffic sent;
  topology_cache at{l, where, sent};
  far_server far;
};

// 600 holds of 300 ms, 2 ms away: on one connection only 50 of them fit into a third.
TEST_F(watchdog_test, renews_many_holds_side_by_side) {
  watchdog dog = make(600, 1);
  run_to_end(l, hold_for(dog, 600, 1min));
  EXPECT_EQ(far.lost, 0);
  EXPECT_EQ(sent.late_renewals, 0U);
  EXPECT_EQ(far.most, 10);
}

// Half of them do not fit into one round: they are the first of the next.
TEST_F(watchdog_test, begins_with_what_was_renewed_longest_ago) {
  far.away = 10ms;
  watchdog dog = make(64, 1);
  ASSERT_EQ(watchdog::connections_for(64, 1), 1U);
  far.lease = 2400ms;
  run_to_end(l, hold_for(dog, 64, 1min));
  EXPECT_EQ(far.lost, 0);
  EXPECT_EQ(sent.late_renewals, 0U);
  EXPECT_EQ(far.most, 1);
}

TEST_F(watchdog_test, has_as_many_connections_as_its_commands_need) {
  EXPECT_EQ(watchdog::connections_for(1, 1), 1U);
  EXPECT_EQ(watchdog::connections_for(65, 1), 2U);
  EXPECT_EQ(watchdog::connections_for(65, 100), 1U);
  EXPECT_EQ(watchdog::connections_for(3000, 1), 32U);
  EXPECT_EQ(watchdog::connections_for(64'000, 100), 10U);
}

// Holds that fit into one command are renewed by one.
TEST_F(watchdog_test, renews_in_batches) {
  far.away = 20ms;
  watchdog dog = make(250, 100);
  run_to_end(l, hold_for(dog, 250, 10s));
  EXPECT_EQ(far.lost, 0);
  EXPECT_EQ(far.most, 1);
}

task<void> lose_touch(loop& l, far_server& far, watchdog_test& test, watchdog& dog, traffic& sent) {
  for (std::uint32_t i = 0; i < 5; ++i) test.take(dog, {i, i});
  co_await l.sleep_for(500ms);
  EXPECT_EQ(sent.late_renewals, 0U);
  far.is_silent = true;
  co_await l.sleep_for(2s);
  far.is_silent = false;
  for (auto& [h, ends] : far.keys) ends = l.now() + far.lease;  // nobody else took them
  co_await l.sleep_for(500ms);
  EXPECT_EQ(sent.late_renewals, 5U);
  far.is_silent = true;
  co_await l.sleep_for(1s);
  dog.remove({0, 0});
  EXPECT_EQ(sent.late_renewals, 6U);
  co_await dog.close();
  EXPECT_EQ(sent.late_renewals, 10U);
}

// Each hold is counted once each time that its lease could have ended.
TEST_F(watchdog_test, counts_what_it_renewed_too_late) {
  watchdog dog = make(5, 1);
  run_to_end(l, lose_touch(l, far, *this, dog, sent));
}

task<void> meet_an_error(loop& l, far_server& far, watchdog_test& test, watchdog& dog) {
  test.take(dog, {0, 0});
  far.broken = "NOPERM";
  co_await l.sleep_for(200ms);
  EXPECT_THROW(test.take(dog, {1, 1}), no_server);
  EXPECT_THROW(dog.throw_failure(), no_server);
  co_await dog.close();
}

// An answer that is no outcome of a lock ends the run: the next client that takes one throws it,
// and closing does not.
TEST_F(watchdog_test, tells_the_next_client_what_went_wrong) {
  watchdog dog = make(2, 1);
  run_to_end(l, meet_an_error(l, far, *this, dog));
}

}  // namespace
}  // namespace lockmark::redis
