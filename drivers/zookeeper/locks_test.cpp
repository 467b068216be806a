// The nodes that each lock creates, on a real server: names and watches are those of the client
// whose protocol it uses.
#include <gmock/gmock.h>

#include "drivers/conformance/proxy.hpp"
#include "drivers/conformance/refused_attempt.hpp"
#include "drivers/zookeeper/paths.hpp"
#include "drivers/zookeeper/test_world.hpp"

namespace lockmark::zookeeper {
namespace {

using conformance::proxy;
using conformance::proxy_mode;
using conformance::refused_attempt;
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::SizeIs;
using testing::UnorderedElementsAre;

constexpr const char* mark = "_c_[0-9a-f-]{36}-";

std::string named(const char* lock_name) {
  return fmt::format("{}{}[0-9]{{10}}", mark, lock_name);
}

// Sessions of one waiter each, all waiting for a key that another client holds.
struct line {
  explicit line(world& w) : where(w), waiting(w.here) {}
  task<void> add(std::size_t waiters) {
    results.assign(waiters, refusal::busy);
    for (std::size_t i = 0; i < waiters; ++i) {
      auto opened = co_await where.open();
      sessions.push_back(std::move(opened));
      waiting.spawn(turn(i));
      while (sessions.back()->sent().round_trips < 2)  // create, exists
        co_await where.here.sleep_for(milliseconds(5));
    }
    co_await where.here.sleep_for(milliseconds(200));  // their watches are set
  }
  task<void> turn(std::size_t i) {
    results[i] = co_await sessions[i]->acquire(where.ask(seconds(10)));
    const auto released = co_await sessions[i]->release(where.ask(seconds(10)));
    EXPECT_TRUE(released.done());
  }
  task<void> end() {
    co_await waiting.join();
    for (const auto& result : results) EXPECT_TRUE(result.done());
    for (const auto& s : sessions) {
      woken += s->sent().wakeups;
      co_await s->close();
    }
  }
  world& where;
  scope waiting;
  std::vector<std::unique_ptr<session>> sessions;
  std::vector<outcome<grant>> results;
  std::uint64_t woken = 0;
};

// The node outlives its holder, and blocks the key until it is removed by hand.
TEST(persistent, outlives_its_holder) {
  world{persistent(), server_target()}.run([](world& w) -> task<void> {
    const auto a = co_await w.open();
    const auto b = co_await w.open();
    const auto held = co_await a->acquire(w.ask(seconds(5)));
    EXPECT_TRUE(held.done());
    co_await a->close();
    co_await w.here.sleep_for(w.session_timeout + seconds(1));
    const auto nodes = co_await w.queue();
    EXPECT_THAT(nodes, ElementsAre("lock"));
    const auto refused = co_await b->acquire(w.ask(seconds(5)));
    EXPECT_TRUE(refused.refused(refusal::busy));
    EXPECT_TRUE(b->alive());
    co_await b->close();
  });
}

// The session expires, the hold does not: its owner can release it through a new session.
TEST(persistent, survives_its_session) {
  world{persistent(), server_target()}.run([](world& w) -> task<void> {
    proxy between{"127.0.0.1", server_port()};
    const auto a = co_await w.open("zookeeper://" + between.address());
    const auto held = co_await a->acquire(w.ask(seconds(5)));
    EXPECT_TRUE(held.done());
    between.set(proxy_mode::cut);
    co_await w.here.sleep_for(w.session_timeout + seconds(2));
    EXPECT_TRUE(a->alive());
    between.set(proxy_mode::pass);
    const auto released = co_await a->release(w.ask(seconds(5)));
    EXPECT_TRUE(released.done());
    const auto nodes = co_await w.queue();
    EXPECT_THAT(nodes, IsEmpty());
    co_await a->close();
  });
}

// All waiters watch the same node, so the first release wakes every one of them.
TEST(ephemeral, wakes_the_herd) {
  world{ephemeral(), server_target()}.run([](world& w) -> task<void> {
    const auto a = co_await w.open();
    const auto held = co_await a->acquire(w.ask(seconds(5)));
    EXPECT_TRUE(held.done());
    const auto nodes = co_await w.queue();
    EXPECT_THAT(nodes, ElementsAre("lock"));
    line all{w};
    co_await all.add(5);
    const auto released = co_await a->release(w.ask(seconds(5)));
    EXPECT_TRUE(released.done());
    co_await all.end();
    EXPECT_GE(all.woken, 5U);  // at most 5 + 4 + 3 + 2 + 1: a late one finds no node to watch
    EXPECT_LE(all.woken, 15U);
    co_await a->close();
  });
}

// The reply to the create is lost: the node's data identify its owner, and it is used.
TEST(ephemeral, finds_the_own_node) {
  world{ephemeral(), server_target()}.run([](world& w) -> task<void> {
    proxy between{"127.0.0.1", server_port()};
    const auto a = co_await w.open("zookeeper://" + between.address());
    between.set(proxy_mode::drop_replies);
    scope waiters{w.here};
    outcome<grant> result = refusal::busy;
    waiters.spawn(acquire_into(w.ask(seconds(5)), *a, &result));
    EXPECT_TRUE(co_await w.queue_of(1));
    between.set(proxy_mode::pass);
    co_await waiters.join();
    EXPECT_TRUE(result.done());
    const auto released = co_await a->release(w.ask(seconds(5)));
    EXPECT_TRUE(released.done());
    co_await a->close();
  });
}

// In doubt, the client's own node is removed in the background; another client's is left alone.
TEST(ephemeral, sweeps_its_own_node_only) {
  world{ephemeral(), server_target()}.run([](world& w) -> task<void> {
    proxy between{"127.0.0.1", server_port()};
    const auto a = co_await w.open("zookeeper://" + between.address());
    const auto b = co_await w.open();
    between.set(proxy_mode::drop_replies);
    const auto unknown = co_await a->acquire(w.ask(milliseconds(300)));
    EXPECT_TRUE(unknown.in_doubt());
    between.set(proxy_mode::pass);
    const auto held = co_await b->acquire(w.ask(seconds(5)));
    EXPECT_TRUE(held.done());
    co_await w.here.sleep_for(milliseconds(300));
    const auto released = co_await b->release(w.ask(seconds(5)));
    EXPECT_TRUE(released.done());
    co_await a->close();
    co_await b->close();
  });
}

// A lease is below "leases"; the mutex below "locks" is free again once the lease is granted.
TEST(semaphore, layout_is_curators) {
  world{semaphore(), server_target()}.run([](world& w) -> task<void> {
    const auto a = co_await w.open();
    const auto got = co_await a->acquire(w.ask(seconds(5)));
    EXPECT_TRUE(got.done());
    const auto parts = co_await w.queue();
    EXPECT_THAT(parts, UnorderedElementsAre("locks", "leases"));
    const auto locks = co_await w.children_of(w.key_path() + "/locks");
    EXPECT_THAT(locks, IsEmpty());
    const auto leases = co_await w.children_of(w.key_path() + "/leases");
    EXPECT_THAT(leases, ElementsAre(MatchesRegex(named("lease-"))));
    co_await a->close();
  });
}

// As many leases as configured; one owner may have several, and releases them one by one.
TEST(semaphore, leases_of_one_owner) {
  world{semaphore(), server_target(), 1, {{"leases", "2"}}}.run([](world& w) -> task<void> {
    EXPECT_EQ(w.kind.holders({{"leases", "2"}}), 2U);
    const auto a = co_await w.open();
    for (int i = 0; i < 2; ++i) {
      const auto got = co_await a->acquire(w.ask(seconds(5)));
      EXPECT_TRUE(got.done());
    }
    const auto third = co_await refused_attempt(w.here, *a, w.ask(seconds(1)));
    EXPECT_TRUE(third.refused(refusal::deadline));
    const auto left = co_await w.children_of(w.key_path() + "/leases");
    EXPECT_THAT(left, SizeIs(2));
    for (int i = 0; i < 2; ++i) {
      const auto released = co_await a->release(w.ask(seconds(5)));
      EXPECT_TRUE(released.done());
    }
    const auto fourth = co_await a->release(w.ask(seconds(5)));
    EXPECT_TRUE(fourth.refused(refusal::not_owner));
    co_await a->close();
  });
}

// Only the holder of the mutex watches the leases: a release wakes one waiter.
TEST(semaphore_mutex, no_herd) {
  world{semaphore_mutex(), server_target()}.run([](world& w) -> task<void> {
    const auto a = co_await w.open();
    const auto held = co_await a->acquire(w.ask(seconds(5)));
    EXPECT_TRUE(held.done());
    std::vector<std::unique_ptr<session>> sessions;
    std::vector<outcome<grant>> results(4, refusal::busy);
    scope waiters{w.here};
    for (outcome<grant>& result : results) {
      auto opened = co_await w.open();
      sessions.push_back(std::move(opened));
      waiters.spawn(acquire_into(w.ask(seconds(2)), *sessions.back(), &result));
      co_await w.here.sleep_for(milliseconds(50));
    }
    co_await w.here.sleep_for(milliseconds(200));
    const auto released = co_await a->release(w.ask(seconds(5)));
    EXPECT_TRUE(released.done());
    co_await w.here.sleep_for(milliseconds(300));
    std::uint64_t woken = 0;
    for (const auto& s : sessions) woken += s->sent().wakeups;
    EXPECT_LE(woken, 2U);  // the first by the lease, the second by the mutex
    co_await waiters.join();
    for (const auto& s : sessions) co_await s->close();
    co_await a->close();
  });
}

// Readers hold together, under Curator's names.
TEST(read_write, layout_is_curators) {
  world{read(), server_target()}.run([](world& w) -> task<void> {
    const auto reader = co_await w.open();
    const auto got = co_await reader->acquire(w.ask(seconds(5)));
    EXPECT_TRUE(got.done());
    const auto shared = co_await reader->acquire(w.ask(seconds(5), 1));
    EXPECT_TRUE(shared.done());
    const auto nodes = co_await w.queue();
    EXPECT_THAT(nodes, SizeIs(2));
    for (const std::string& node : nodes) EXPECT_THAT(node, MatchesRegex(named("__READ__")));
    co_await reader->close();
  });
}

// Two writers stand behind another client's node. Once that has gone, the first downgrades before
// it is granted; true if the second is then granted as well, beside its read lock.
task<bool> meets_a_downgraded_writer(world& w) {
  const std::string path = w.key_path() + "/_c_x-__WRIT__";
  const auto ahead =
      co_await w.look->create(path, "", node_kind::ephemeral_sequential, w.in(seconds(5)));
  const auto a = co_await w.open();
  const auto b = co_await w.open();
  outcome<grant> first = refusal::busy;
  outcome<grant> second = refusal::busy;
  scope waiters{w.here};
  waiters.spawn(acquire_into(w.ask(seconds(10)), *a, &first));
  EXPECT_TRUE(co_await w.queue_of(2));
  waiters.spawn(acquire_into(w.ask(seconds(3)), *b, &second));
  EXPECT_TRUE(co_await w.queue_of(3));
  co_await w.look->remove(ahead.text, w.in(seconds(5)));
  co_await waiters.join();
  EXPECT_TRUE(first.done());
  const bool beside = second.done();
  const auto nodes = co_await w.queue();
  EXPECT_THAT(nodes, Each(MatchesRegex(named("__READ__"))));
  EXPECT_THAT(nodes, SizeIs(beside ? 2 : 1));
  const auto released = co_await a->release(w.ask(seconds(5)));
  EXPECT_TRUE(released.done());
  if (beside) co_await b->release(w.ask(seconds(5)));
  co_await a->close();
  co_await b->close();
  co_return beside;
}

// The read lock stands where the write lock stood: writers behind it go on waiting.
TEST(read_write, downgraded_writer_keeps_the_next_one_out) {
  world{write(), server_target(), 1, {{"hold", "downgraded"}}}.run([](world& w) -> task<void> {
    const bool beside = co_await meets_a_downgraded_writer(w);
    EXPECT_FALSE(beside);
  });
}

// CURATOR-621: up to 5.4 it stood behind them, and the next writer came in.
TEST(read_write, downgraded_writer_of_5_4_lets_the_next_one_in) {
  world{write(), server_target(), 1, {{"hold", "downgraded_5.4"}}}.run([](world& w) -> task<void> {
    const bool beside = co_await meets_a_downgraded_writer(w);
    EXPECT_TRUE(beside) << "the documented defect is gone";
  });
}

// What is held once a writer has downgraded, readers share; the six requests are Curator's.
TEST(read_write, downgraded_writer_lets_readers_in) {
  world{write(), server_target(), 1, {{"hold", "downgraded"}}}.run([](world& w) -> task<void> {
    const auto a = co_await w.open();
    const traffic before = a->sent();
    const auto held = co_await a->acquire(w.ask(seconds(5)));
    EXPECT_TRUE(held.done());
    const std::string reader = w.key_path() + "/_c_x-__READ__";
    const auto beside =
        co_await w.look->create(reader, "", node_kind::ephemeral_sequential, w.in(seconds(5)));
    const auto nodes = co_await w.queue();
    const auto its_place = reader_queue.find(nodes, base_name(beside.text));
    EXPECT_TRUE(its_place.listed);
    EXPECT_FALSE(its_place.behind.has_value());
    const auto released = co_await a->release(w.ask(seconds(5)));
    EXPECT_TRUE(released.done());
    EXPECT_EQ(a->sent().round_trips - before.round_trips, 6U);
    co_await w.look->remove(beside.text, w.in(seconds(5)));
    co_await a->close();
  });
}

// A waiter asks exists of the node before it, in place of its data, and is woken all the same.
TEST(sequential, watches_by_exists) {
  world{sequential(), server_target(), 1, {{"watch", "exists"}}}.run([](world& w) -> task<void> {
    const auto a = co_await w.open();
    const auto held = co_await a->acquire(w.ask(seconds(5)));
    EXPECT_TRUE(held.done());
    line all{w};
    co_await all.add(3);
    const auto released = co_await a->release(w.ask(seconds(5)));
    EXPECT_TRUE(released.done());
    co_await all.end();
    EXPECT_EQ(all.woken, 3U);  // one each
    co_await a->close();
  });
}

// One queue per part; a release leaves nothing in any of them.
TEST(multi, layout_is_curators) {
  world{multi(), server_target(), 1, {{"locks", "2"}}}.run([](world& w) -> task<void> {
    const auto a = co_await w.open();
    const auto b = co_await w.open();
    const auto got = co_await a->acquire(w.ask(seconds(5)));
    EXPECT_TRUE(got.done());
    const auto refused = co_await refused_attempt(w.here, *b, w.ask(seconds(1)));
    EXPECT_TRUE(refused.refused(refusal::deadline));
    const auto parts = co_await w.queue();
    EXPECT_THAT(parts, UnorderedElementsAre("0", "1"));
    for (const char* part : {"/0", "/1"}) {
      const auto nodes = co_await w.children_of(w.key_path() + part);
      EXPECT_THAT(nodes, ElementsAre(MatchesRegex(named("lock-"))));
    }
    const auto released = co_await a->release(w.ask(seconds(5)));
    EXPECT_TRUE(released.done());
    for (const char* part : {"/0", "/1"}) {
      const auto nodes = co_await w.children_of(w.key_path() + part);
      EXPECT_THAT(nodes, IsEmpty());
    }
    co_await a->close();
    co_await b->close();
  });
}

// A client that fails to get the second part releases the first as well.
TEST(multi, gives_up_what_it_had) {
  world{multi(), server_target(), 1, {{"locks", "2"}}}.run([](world& w) -> task<void> {
    const auto a = co_await w.open();
    const std::string blocker = w.key_path() + "/1/_c_x-lock-";
    const reply ahead =
        co_await w.look->create(blocker, "", node_kind::ephemeral_sequential, w.in(seconds(5)));
    EXPECT_TRUE(ahead.ok());
    const auto refused = co_await refused_attempt(w.here, *a, w.ask(seconds(1)));
    EXPECT_TRUE(refused.refused(refusal::deadline));
    const auto first = co_await w.children_of(w.key_path() + "/0");
    EXPECT_THAT(first, IsEmpty());
    const auto second = co_await w.children_of(w.key_path() + "/1");
    EXPECT_THAT(second, SizeIs(1));
    co_await a->close();
  });
}

}  // namespace
}  // namespace lockmark::zookeeper
