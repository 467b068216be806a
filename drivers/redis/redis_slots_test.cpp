// A slot that moves to another node of a Cluster while something of it is under way: by servers
// that answer in the order that the test wants.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>

#include "drivers/redis/fake_server.hpp"
#include "drivers/redis/redis.hpp"
#include "harness/async/scope.hpp"

namespace lockmark::redis {
namespace {

using namespace std::chrono_literals;

// Two masters without replicas. All slots are the first one's, until move().
class pair_of_nodes {
 public:
  std::string url() const { return "redis+cluster://" + old_.address(); }
  void move() { moved_ = true; }
  bool subscribed_at_the_old() const { return subscribed_; }

 private:
  bool at_old(const fake_server::command& c, const fake_server::peer& to) {
    if (!c.empty() && c[0] == "SSUBSCRIBE") {
      subscribed_ = true;
      return true;  // and never confirmed
    }
    const bool is_for_a_slot = !c.empty() && c[0].starts_with("EVAL");
    if (is_for_a_slot && moved_) return to.send(fmt::format("-MOVED 1 {}\r\n", new_.address()));
    if (is_for_a_slot) return to.send(":30000\r\n");  // somebody has the lock
    return to.send(answer(c));
  }
  bool at_new(const fake_server::command& c, const fake_server::peer& to) {
    if (c.empty()) return false;
    if (c[0] == "SSUBSCRIBE") {
      return to.send(fmt::format("*3\r\n{}{}:1\r\n", as_text("ssubscribe"), as_text(c.at(1))));
    }
    if (c[0].starts_with("EVAL")) return to.send("$-1\r\n");  // taken
    return to.send(answer(c));
  }
  std::string answer(const fake_server::command& c) {
    if (c.empty()) return "-ERR\r\n";
    if (c[0] == "INFO") {
      return as_text(
          "redis_version:7.0.15\r\nredis_mode:cluster\r\nrole:master\r\nconnected_slaves:0\r\n");
    }
    if (c[0] == "CLUSTER") {
      const fake_server& owner = moved_ ? new_ : old_;
      const std::string address = owner.address();
      const auto colon = address.find(':');
      return fmt::format("*1\r\n*3\r\n:0\r\n:16383\r\n*3\r\n{}:{}\r\n{}",
                         as_text(address.substr(0, colon)), address.substr(colon + 1),
                         as_text(moved_ ? "new" : "old"));
    }
    if (c[0] == "PUBSUB") return "*0\r\n";
    return usual_answer(c);
  }

  std::atomic<bool> moved_{false};
  std::atomic<bool> subscribed_{false};
  fake_server new_{[this](const auto& c, const auto& to) { return at_new(c, to); }};
  fake_server old_{[this](const auto& c, const auto& to) { return at_old(c, to); }};
};

task<void> take(loop& l, session& s, std::uint32_t client, std::string& ending) {
  const request r{.client = client, .lease = 10s, .deadline = l.now() + 20s};
  const auto got = co_await s.acquire(r);
  ending = got.done() ? "done" : got.refused() ? name_of(got.why_refused()) : "in doubt";
}

task<void> wait_while_a_slot_moves(loop& l, driver& d, pair_of_nodes& nodes, std::string& first,
                                   std::string& second) {
  const time_point by = l.now() + 20s;
  co_await d.prepare(l, by);
  const instance who{.id = "i", .clients = 2};
  const auto s = co_await d.open(l, who, by);
  scope waiting{l};
  waiting.spawn(take(l, *s, 0, first));
  while (!nodes.subscribed_at_the_old() && l.now() < by) co_await l.sleep_for(1ms);
  co_await l.sleep_for(300ms);  // sooner after a look at the Cluster, a redirection brings none
  nodes.move();
  co_await take(l, *s, 1, second);
  co_await waiting.join();
  co_await s->close();
}

// The second client learns that the slot has moved, while the first one's subscription at the old
// node is not confirmed: it subscribes at the new one.
TEST(moving_slots, take_a_subscription_under_way_with_them) {
  pair_of_nodes nodes;
  const real_clock clock;
  loop l{clock};
  driver_setup setup{.target = nodes.url(), .run_names = {"test", {"a"}}, .options = {}};
  const lock_kind kind = redisson();
  for (const auto& o : kind.options) setup.options.emplace(o.name, o.preset);
  const auto d = kind.make(setup);
  std::string first, second;
  run_to_end(l, wait_while_a_slot_moves(l, *d, nodes, first, second));
  EXPECT_EQ(second, "done");
  EXPECT_EQ(first, "done");
}

}  // namespace
}  // namespace lockmark::redis
