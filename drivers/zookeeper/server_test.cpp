// The sequential lock against a real server: ZooKeeper specifics that the conformance suite does
// not cover.
#include <gmock/gmock.h>

#include "deploy/local/cluster.hpp"
#include "drivers/conformance/proxy.hpp"
#include "drivers/conformance/refused_attempt.hpp"
#include "drivers/zookeeper/test_world.hpp"

namespace lockmark::zookeeper {

std::string& server_target() {
  static std::string target;
  return target;
}

std::uint16_t server_port() {
  return servers_at(server_target()).hosts.front().port;
}

namespace {

using conformance::proxy;
using conformance::proxy_mode;
using conformance::refused_attempt;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::SizeIs;

task<void> take_turns(world& w, session& s, int* granted, int cycles) {
  for (int i = 0; i < cycles; ++i) {
    const auto got = co_await s.acquire(w.ask(seconds(10)));
    EXPECT_TRUE(got.done());
    if (!got.done()) co_return;
    ++*granted;
    const auto released = co_await s.release(w.ask(seconds(10)));
    EXPECT_TRUE(released.done());
  }
}

// The nodes have Curator's names, and the token is the node's czxid.
TEST(sequential, layout_is_curators) {
  world{sequential(), server_target()}.run([](world& w) -> task<void> {
    const auto a = co_await w.open();
    const auto got = co_await a->acquire(w.ask(seconds(5)));
    EXPECT_TRUE(got.done());
    const auto nodes = co_await w.queue();
    EXPECT_THAT(nodes, SizeIs(1));
    EXPECT_THAT(nodes.at(0), MatchesRegex("_c_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]"
                                          "{3}-[0-9a-f]{12}-lock-[0-9]{10}"));
    const std::string path = w.key_path() + '/' + nodes.at(0);
    const reply found = co_await w.look->exists(path, nullptr, w.in(seconds(5)));
    EXPECT_EQ(static_cast<std::uint64_t>(found.czxid), got.value().token);
    co_await a->close();
  });
}

// A waiter gets the lock when the holder releases it, with a greater token.
TEST(sequential, hand_over) {
  world{sequential(), server_target()}.run([](world& w) -> task<void> {
    const auto a = co_await w.open();
    const auto b = co_await w.open();
    const auto first = co_await a->acquire(w.ask(seconds(5)));
    scope waiters{w.here};
    outcome<grant> second = refusal::busy;
    waiters.spawn(acquire_into(w.ask(seconds(5)), *b, &second));
    EXPECT_TRUE(co_await w.queue_of(2));
    EXPECT_TRUE(second.refused(refusal::busy));  // still waiting
    while (b->sent().round_trips < 3) co_await w.here.sleep_for(milliseconds(5));
    co_await w.here.sleep_for(milliseconds(100));  // its watch is set
    const auto released = co_await a->release(w.ask(seconds(5)));
    EXPECT_TRUE(released.done());
    co_await waiters.join();
    EXPECT_TRUE(second.done());
    EXPECT_GT(second.value().token, first.value().token);
    EXPECT_EQ(b->sent().wakeups, 1U);
    co_await a->close();
    co_await b->close();
  });
}

// A client that gives up at its deadline leaves no node behind.
TEST(sequential, deadline_leaves_the_queue) {
  world{sequential(), server_target()}.run([](world& w) -> task<void> {
    const auto a = co_await w.open();
    const auto b = co_await w.open();
    const auto held = co_await a->acquire(w.ask(seconds(5)));
    EXPECT_TRUE(held.done());
    const auto refused = co_await refused_attempt(w.here, *b, w.ask(seconds(1)));
    EXPECT_TRUE(refused.refused(refusal::deadline));
    const auto nodes = co_await w.queue();
    EXPECT_THAT(nodes, SizeIs(1));
    const auto foreign = co_await b->release(w.ask(seconds(1)));
    EXPECT_TRUE(foreign.refused(refusal::not_owner));
    co_await a->close();
    co_await b->close();
  });
}

// With ten waiters a release wakes one of them, not all.
TEST(sequential, no_herd) {
  world{sequential(), server_target()}.run([](world& w) -> task<void> {
    constexpr int cycles = 20;
    std::vector<std::unique_ptr<session>> sessions;
    for (int i = 0; i < 10; ++i) {
      auto opened = co_await w.open();
      sessions.push_back(std::move(opened));
    }
    int granted = 0;
    scope clients{w.here};
    for (const auto& s : sessions) clients.spawn(take_turns(w, *s, &granted, cycles));
    co_await clients.join();
    traffic sum;
    for (const auto& s : sessions) sum += s->sent();
    EXPECT_EQ(granted, 10 * cycles);
    EXPECT_GT(sum.wakeups, 100U);
    EXPECT_LE(sum.wakeups, 200U);
    EXPECT_LE(sum.commands, 5U * 200 + 10);  // create, children, get, children, delete
    EXPECT_GT(sum.bytes_in, 1000U);
    for (const auto& s : sessions) co_await s->close();
  });
}

// Closing the session frees its locks at once, long before the session would expire.
TEST(sequential, close_frees) {
  world{sequential(), server_target()}.run([](world& w) -> task<void> {
    w.session_timeout = seconds(8);
    const auto a = co_await w.open();
    const auto held = co_await a->acquire(w.ask(seconds(5)));
    EXPECT_TRUE(held.done());
    const auto before = w.here.now();
    co_await a->close();
    const auto nodes = co_await w.queue();
    EXPECT_LT(w.here.now() - before, seconds(5)) << "it has expired by itself";
    EXPECT_THAT(nodes, IsEmpty());
  });
}

// A holder cut off for longer than its session timeout knows that it lost the lock, and another
// client gets it; the holder's next acquire opens a new session.
TEST(sequential, expired_holder) {
  world{sequential(), server_target()}.run([](world& w) -> task<void> {
    proxy between{"127.0.0.1", server_port()};
    const auto a = co_await w.open("zookeeper://" + between.address());
    const auto b = co_await w.open();
    const auto held = co_await a->acquire(w.ask(seconds(5)));
    EXPECT_TRUE(held.done());
    EXPECT_TRUE(a->alive());
    between.set(proxy_mode::cut);
    const auto taken = co_await b->acquire(w.ask(seconds(12)));
    EXPECT_TRUE(taken.done());
    EXPECT_FALSE(a->alive());
    between.set(proxy_mode::pass);
    const auto stale = co_await a->release(w.ask(seconds(5)));
    EXPECT_TRUE(stale.refused(refusal::not_owner));
    const auto released = co_await b->release(w.ask(seconds(5)));
    EXPECT_TRUE(released.done());
    const auto again = co_await a->acquire(w.ask(seconds(5)));
    EXPECT_TRUE(again.done());
    EXPECT_TRUE(a->alive());
    EXPECT_GE(a->sent().reconnects, 1U);
    co_await a->close();
    co_await b->close();
  });
}

// Another client's call opens a new session, but does not restore the first one's hold: alive()
// stays false until the hold's owner has been told.
TEST(sequential, a_new_session_hides_no_lost_hold) {
  world{sequential(), server_target(), 2}.run([](world& w) -> task<void> {
    proxy between{"127.0.0.1", server_port()};
    const auto a = co_await w.open("zookeeper://" + between.address());
    const auto held = co_await a->acquire(w.ask(seconds(5)));
    EXPECT_TRUE(held.done());
    between.set(proxy_mode::cut);
    EXPECT_TRUE(co_await w.queue_of(0));
    between.set(proxy_mode::pass);
    const auto other = co_await a->acquire(w.ask(seconds(5), 1, 1));
    EXPECT_TRUE(other.done());
    EXPECT_FALSE(a->alive());
    const auto stale = co_await a->release(w.ask(seconds(5)));
    EXPECT_TRUE(stale.refused(refusal::not_owner));
    EXPECT_TRUE(a->alive());
    co_await a->close();
  });
}

// A short interruption costs a waiter nothing: its session, its node and its watch survive.
TEST(sequential, waiter_survives_an_interruption) {
  world{sequential(), server_target()}.run([](world& w) -> task<void> {
    proxy between{"127.0.0.1", server_port()};
    const auto a = co_await w.open();
    const auto b = co_await w.open("zookeeper://" + between.address());
    const auto held = co_await a->acquire(w.ask(seconds(5)));
    EXPECT_TRUE(held.done());
    scope waiters{w.here};
    outcome<grant> second = refusal::busy;
    waiters.spawn(acquire_into(w.ask(seconds(5)), *b, &second));
    EXPECT_TRUE(co_await w.queue_of(2));
    between.set(proxy_mode::cut);
    const auto released = co_await a->release(w.ask(seconds(5)));
    EXPECT_TRUE(released.done());
    between.set(proxy_mode::pass);
    co_await waiters.join();
    EXPECT_TRUE(second.done());
    co_await a->close();
    co_await b->close();
  });
}

// The reply to the create is lost: the node is found again by its prefix, and used.
TEST(sequential, protection_finds_the_own_node) {
  world{sequential(), server_target()}.run([](world& w) -> task<void> {
    proxy between{"127.0.0.1", server_port()};
    const auto a = co_await w.open("zookeeper://" + between.address());
    between.set(proxy_mode::drop_replies);
    scope waiters{w.here};
    outcome<grant> result = refusal::busy;
    waiters.spawn(acquire_into(w.ask(seconds(5)), *a, &result));
    EXPECT_TRUE(co_await w.queue_of(1));
    const auto before = co_await w.queue();
    between.set(proxy_mode::pass);
    co_await waiters.join();
    EXPECT_TRUE(result.done());
    const auto after = co_await w.queue();
    EXPECT_EQ(before, after);
    const auto released = co_await a->release(w.ask(seconds(5)));
    EXPECT_TRUE(released.done());
    co_await a->close();
  });
}

// A create without a reply may have happened; its node is removed later.
TEST(sequential, doubt_is_cleaned_up) {
  world{sequential(), server_target()}.run([](world& w) -> task<void> {
    proxy between{"127.0.0.1", server_port()};
    const auto a = co_await w.open("zookeeper://" + between.address());
    between.set(proxy_mode::drop_replies);
    const auto unknown = co_await a->acquire(w.ask(milliseconds(300)));
    EXPECT_TRUE(unknown.in_doubt());
    EXPECT_TRUE(co_await w.queue_of(1));
    between.set(proxy_mode::pass);
    EXPECT_TRUE(co_await w.queue_of(0));
    co_await a->close();
  });
}

// The server reports its version and settings, and counts the requests it receives.
TEST(driver, describes_the_server) {
  world{sequential(), server_target()}.run([](world& w) -> task<void> {
    const auto about = co_await w.backend->prepare(w.here, w.in(seconds(5)));
    std::map<std::string, std::string> fields(about.begin(), about.end());
    EXPECT_THAT(fields["server.version"], MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
    EXPECT_EQ(fields["server.mode"], "standalone");
    EXPECT_EQ(fields["server.durability"], "each change");
    EXPECT_EQ(fields["zookeeper.tickTime"], "500");
    EXPECT_EQ(fields["server.session_tick"], "500ms");
    EXPECT_EQ(fields["zookeeper.grantedSessionTimeout"], "10000");
    const auto before = co_await w.backend->counters(w.here, w.in(seconds(5)));
    const auto nodes = co_await w.queue();
    const auto after = co_await w.backend->counters(w.here, w.in(seconds(5)));
    EXPECT_GT(after.at("commands"), before.at("commands"));
    EXPECT_TRUE(after.contains("watch_count"));
  });
}

}  // namespace
}  // namespace lockmark::zookeeper

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  const auto server = lockmark::local::cluster::start("zookeeper");
  lockmark::zookeeper::server_target() = server.target();
  return RUN_ALL_TESTS();
}
