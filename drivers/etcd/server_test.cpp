// The locks and the driver against a real server: etcd's specifics, which the conformance suite
// does not cover.
#include <gmock/gmock.h>

#include <map>

#include "deploy/local/cluster.hpp"
#include "drivers/conformance/proxy.hpp"
#include "drivers/conformance/refused_attempt.hpp"
#include "drivers/etcd/test_world.hpp"

namespace lockmark::etcd {
namespace {

using conformance::proxy;
using conformance::proxy_mode;
using conformance::refused_attempt;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::SizeIs;

std::string& server_target() {
  static std::string target;
  return target;
}

std::uint16_t server_port() {
  return servers_at(server_target()).hosts.front().port;
}

task<void> take_turns(world& w, session& s, std::uint32_t client, int* granted, int cycles) {
  for (int i = 0; i < cycles; ++i) {
    const auto got = co_await s.acquire(w.ask(seconds(20), client));
    EXPECT_TRUE(got.done());
    if (!got.done()) co_return;
    ++*granted;
    const auto released = co_await s.release(w.ask(seconds(20), client));
    EXPECT_TRUE(released.done());
  }
}

// The key has the Go client's name, and the token is its creation's revision.
TEST(mutex, layout_is_that_of_the_go_client) {
  world{mutex(), server_target()}.run([](world& w) -> task<void> {
    const auto a = co_await w.open();
    const auto got = co_await a->acquire(w.ask(seconds(20)));
    EXPECT_TRUE(got.done());
    const found key = co_await w.youngest();
    EXPECT_THAT(key.key, MatchesRegex("lockmark/case[0-9]+/key0/[0-9a-f]+"));
    EXPECT_EQ(static_cast<std::uint64_t>(key.created), got.value().token);
    EXPECT_EQ(a->sent().commands, 4U + 1U) << "four leases, and one transaction";
    const auto released = co_await a->release(w.ask(seconds(20)));
    EXPECT_TRUE(released.done());
    EXPECT_EQ(a->sent().commands, 4U + 2U);
    co_await a->close();
  });
}

// Each client of an instance has its own lease: one of them holds, the others wait.
TEST(mutex, clients_of_an_instance_are_not_one) {
  world{mutex(), server_target()}.run([](world& w) -> task<void> {
    const auto a = co_await w.open("", 8);
    int granted = 0;
    scope clients{w.here};
    for (std::uint32_t c = 0; c < 8; ++c) clients.spawn(take_turns(w, *a, c, &granted, 3));
    EXPECT_TRUE(co_await w.queue_of(8));
    co_await clients.join();
    EXPECT_EQ(granted, 24);
    co_await a->close();
  });
}

// With ten waiters a release wakes one of them, not all.
void see_no_herd(const char* watch_from) {
  world{mutex(), server_target(), 1, {{"watch_from", watch_from}}}.run([](world& w) -> task<void> {
    constexpr int cycles = 10;
    const auto a = co_await w.open("", 10);
    int granted = 0;
    scope clients{w.here};
    for (std::uint32_t c = 0; c < 10; ++c) {
      clients.spawn(take_turns(w, *a, c, &granted, cycles));
    }
    co_await clients.join();
    EXPECT_EQ(granted, 10 * cycles);
    EXPECT_GT(a->sent().wakeups, 50U);
    EXPECT_LE(a->sent().wakeups, 100U);
    // transaction, whom to wait for, watch, its end, again, own key, delete
    EXPECT_LE(a->sent().commands, 7U * 100 + 10 + 20);
    co_await a->close();
  });
}

TEST(mutex, no_herd) {
  see_no_herd("read");
}
TEST(mutex, no_herd_of_those_who_watch_ahead) {
  see_no_herd("next");
}

// A client that gives up at its deadline leaves no key behind.
TEST(mutex, deadline_leaves_the_queue) {
  world{mutex(), server_target()}.run([](world& w) -> task<void> {
    const auto a = co_await w.open();
    const auto held = co_await a->acquire(w.ask(seconds(20)));
    EXPECT_TRUE(held.done());
    const auto refused = co_await refused_attempt(w.here, *a, w.ask(milliseconds(500), 1));
    EXPECT_TRUE(refused.refused(refusal::deadline));
    EXPECT_EQ(co_await w.queue(), 1);
    co_await a->close();
  });
}

// Closing the session revokes its leases, long before they would end.
TEST(mutex, close_frees) {
  world{mutex(), server_target()}.run([](world& w) -> task<void> {
    w.session_timeout = seconds(30);
    const auto a = co_await w.open();
    const auto held = co_await a->acquire(w.ask(seconds(20)));
    EXPECT_TRUE(held.done());
    co_await a->close();
    EXPECT_EQ(co_await w.queue(), 0);
  });
}

// A lease outlives several times its length, because it is kept alive.
TEST(mutex, keeps_its_lease_alive) {
  world{mutex(), server_target()}.run([](world& w) -> task<void> {
    w.session_timeout = seconds(2);
    const auto a = co_await w.open("", 1);
    const auto held = co_await a->acquire(w.ask(seconds(20)));
    EXPECT_TRUE(held.done());
    co_await w.here.sleep_for(seconds(5));
    EXPECT_EQ(co_await w.queue(), 1);
    EXPECT_TRUE(a->alive());
    EXPECT_GE(a->sent().commands, 2U + 4U) << "a request in a third of 2 s";
    co_await a->close();
  });
}

// A holder cut off for longer than its lease knows that it lost the lock, and another client gets
// it; the holder's next acquire has another lease.
TEST(mutex, expired_holder) {
  world{mutex(), server_target()}.run([](world& w) -> task<void> {
    proxy between{"127.0.0.1", server_port()};
    const auto a = co_await w.open("etcd://" + between.address());
    const auto b = co_await w.open();
    const auto held = co_await a->acquire(w.ask(seconds(20)));
    EXPECT_TRUE(held.done());
    EXPECT_TRUE(a->alive());
    between.set(proxy_mode::cut);
    const auto taken = co_await b->acquire(w.ask(seconds(20)));
    EXPECT_TRUE(taken.done());
    EXPECT_FALSE(a->alive());
    between.set(proxy_mode::pass);
    const auto stale = co_await a->release(w.ask(seconds(20)));
    EXPECT_TRUE(stale.refused(refusal::not_owner));
    const auto released = co_await b->release(w.ask(seconds(20)));
    EXPECT_TRUE(released.done());
    const auto again = co_await a->acquire(w.ask(seconds(20)));
    EXPECT_TRUE(again.done());
    EXPECT_TRUE(a->alive());
    EXPECT_GE(a->sent().reconnects, 1U);
    co_await a->close();
    co_await b->close();
  });
}

// A short interruption costs a waiter nothing: its key stays, and it watches again.
TEST(mutex, waiter_survives_an_interruption) {
  world{mutex(), server_target()}.run([](world& w) -> task<void> {
    proxy between{"127.0.0.1", server_port()};
    const auto a = co_await w.open();
    const auto b = co_await w.open("etcd://" + between.address());
    const auto held = co_await a->acquire(w.ask(seconds(20)));
    EXPECT_TRUE(held.done());
    scope waiters{w.here};
    outcome<grant> second = refusal::busy;
    const auto before = b->sent().commands;
    waiters.spawn(acquire_into(w.ask(seconds(10)), *b, &second));
    // The transaction and the read have been answered: it watches.
    const auto in_time = w.in(seconds(15));
    while (b->sent().commands < before + 3 && w.here.now() < in_time) {
      co_await w.here.sleep_for(milliseconds(5));
    }
    between.set(proxy_mode::cut);
    const auto released = co_await a->release(w.ask(seconds(20)));
    EXPECT_TRUE(released.done());
    between.set(proxy_mode::pass);
    co_await waiters.join();
    EXPECT_TRUE(second.done());
    co_await a->close();
    co_await b->close();
  });
}

// A transaction without a reply may have happened; its key goes with its lease.
TEST(mutex, doubt_is_cleaned_up) {
  world{mutex(), server_target()}.run([](world& w) -> task<void> {
    w.session_timeout = seconds(60);
    proxy between{"127.0.0.1", server_port()};
    const auto a = co_await w.open("etcd://" + between.address());
    between.set(proxy_mode::silent);
    const auto unknown = co_await a->acquire(w.ask(milliseconds(300)));
    EXPECT_TRUE(unknown.in_doubt());
    between.set(proxy_mode::pass);
    EXPECT_TRUE(co_await w.queue_of(0));
    const auto again = co_await a->acquire(w.ask(seconds(10)));
    EXPECT_TRUE(again.done());
    co_await a->close();
  });
}

// A lease that somebody else revokes: the holder learns of it, and goes on with another one.
TEST(mutex, revoked_lease) {
  world{mutex(), server_target()}.run([](world& w) -> task<void> {
    const auto a = co_await w.open("", 1);
    const auto held = co_await a->acquire(w.ask(seconds(20)));
    EXPECT_TRUE(held.done());
    const found key = co_await w.youngest();
    const lease_id id = std::stoll(key.key.substr(key.key.rfind('/') + 1), nullptr, 16);
    const answer revoked =
        co_await w.look->call(revoke_path, revoke_request(id), w.in(seconds(20)));
    EXPECT_TRUE(revoked.ok());
    const time_point soon = w.in(seconds(10));
    while (a->alive() && w.here.now() < soon) co_await w.here.sleep_for(milliseconds(20));
    EXPECT_FALSE(a->alive());
    const auto released = co_await a->release(w.ask(seconds(20)));
    EXPECT_TRUE(released.refused(refusal::not_owner));
    const auto again = co_await a->acquire(w.ask(seconds(20)));
    EXPECT_TRUE(again.done());
    EXPECT_TRUE(a->alive());
    co_await a->close();
  });
}

// The server's own lock and the client's are one: they exclude each other on one name.
TEST(lock_service, excludes_the_mutex) {
  world{lock_service(), server_target()}.run([](world& w) -> task<void> {
    const auto a = co_await w.open();
    const auto got = co_await a->acquire(w.ask(seconds(20)));
    EXPECT_TRUE(got.done());
    const found key = co_await w.youngest();
    EXPECT_THAT(key.key, MatchesRegex("lockmark/case[0-9]+/key0/[0-9a-f]+"));
    w.kind = mutex();
    const auto b = co_await w.open();
    const auto refused = co_await refused_attempt(w.here, *b, w.ask(milliseconds(300)));
    EXPECT_TRUE(refused.refused(refusal::deadline));
    const auto released = co_await a->release(w.ask(seconds(20)));
    EXPECT_TRUE(released.done());
    const auto taken = co_await b->acquire(w.ask(seconds(20)));
    EXPECT_TRUE(taken.done());
    EXPECT_GT(taken.value().token, got.value().token);
    co_await a->close();
    co_await b->close();
  });
}

// One command, whether or not it has to wait.
TEST(lock_service, waits_on_the_server) {
  world{lock_service(), server_target()}.run([](world& w) -> task<void> {
    const auto a = co_await w.open("", 5);
    int granted = 0;
    scope clients{w.here};
    for (std::uint32_t c = 0; c < 5; ++c) clients.spawn(take_turns(w, *a, c, &granted, 4));
    co_await clients.join();
    EXPECT_EQ(granted, 20);
    EXPECT_LE(a->sent().commands, 5U + 2U * 20 + 10);
    co_await a->close();
  });
}

// Readers hold together, under the recipe's names.
TEST(rw, layout_is_that_of_the_recipe) {
  world{rw_read(), server_target()}.run([](world& w) -> task<void> {
    const auto readers = co_await w.open();
    for (const std::uint32_t client : {0U, 1U}) {
      const auto got = co_await readers->acquire(w.ask(seconds(20), client));
      EXPECT_TRUE(got.done());
    }
    const found key = co_await w.youngest();
    EXPECT_THAT(key.key, MatchesRegex("lockmark/case[0-9]+/key0/read/[0-9a-f]+"));
    EXPECT_EQ(co_await w.queue(), 2);
    w.kind = rw();
    const auto writer = co_await w.open();
    const auto refused = co_await refused_attempt(w.here, *writer, w.ask(milliseconds(300)));
    EXPECT_TRUE(refused.refused(refusal::deadline));
    co_await readers->close();
    const auto taken = co_await writer->acquire(w.ask(seconds(20)));
    EXPECT_TRUE(taken.done());
    co_await writer->close();
  });
}

// The server reports its version and settings, and counts the requests it receives.
TEST(driver, describes_the_server) {
  world{mutex(), server_target()}.run([](world& w) -> task<void> {
    const auto about = co_await w.backend->prepare(w.here, w.in(seconds(20)));
    std::map<std::string, std::string> fields(about.begin(), about.end());
    EXPECT_EQ(fields["server.name"], "etcd");
    EXPECT_THAT(fields["server.version"], MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
    EXPECT_EQ(fields["server.mode"], "leader");
    EXPECT_EQ(fields["server.durability"], "each change");
    EXPECT_EQ(fields["etcd.quota_bytes"], "2147483648");
    const auto before = co_await w.backend->counters(w.here, w.in(seconds(20)));
    co_await w.queue();
    const auto after = co_await w.backend->counters(w.here, w.in(seconds(20)));
    EXPECT_EQ(after.at("commands"), before.at("commands") + 1);
    EXPECT_EQ(after.at("cmd.Range"), before.at("cmd.Range") + 1);
  });
}

// On a healthy server there are no findings; a lease that is too short is one.
TEST(driver, looks_before_a_run) {
  world{mutex(), server_target()}.run([](world& w) -> task<void> {
    demand load{.instances = 100, .clients = 4, .lease = {}, .session_timeout = seconds(4)};
    auto found_here = co_await w.backend->preflight(w.here, load, w.in(seconds(20)));
    EXPECT_THAT(found_here, IsEmpty());
    load.session_timeout = milliseconds(500);
    found_here = co_await w.backend->preflight(w.here, load, w.in(seconds(20)));
    EXPECT_THAT(found_here, SizeIs(1));
    EXPECT_THAT(found_here.at(0).sentence, HasSubstr("500 ms was asked for"));
    load.instances = 100'000'000;
    found_here = co_await w.backend->preflight(w.here, load, w.in(seconds(20)));
    EXPECT_TRUE(found_here.at(0).fatal);
    EXPECT_THAT(found_here.at(0).sentence, HasSubstr("file descriptors"));
  });
}

// Without a listener prepare() soon fails with one sentence that names the address.
TEST(driver, no_server) {
  real_clock time;
  loop here{time};
  driver_setup setup{.target = "etcd://127.0.0.1:1", .run_names = {"x", {"k"}}, .options = {}};
  const auto backend = mutex().make(setup);
  try {
    run_to_end(here, [](driver* d, loop* l) -> task<void> {
      co_await d->prepare(*l, l->now() + seconds(5));
    }(backend.get(), &here));
    FAIL() << "prepared without a server";
  } catch (const lockmark::no_server& e) {
    EXPECT_STREQ(e.what(), "etcd://127.0.0.1:1: Connection refused");
  }
}

}  // namespace
}  // namespace lockmark::etcd

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  const auto server = lockmark::local::cluster::start("etcd");
  lockmark::etcd::server_target() = server.target();
  return RUN_ALL_TESTS();
}
