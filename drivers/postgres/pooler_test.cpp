// Behind a pooler that lends the server's sessions for a transaction at a time, the locks of
// sessions leak and let several in, which the preflight says beforehand; those of transactions, and
// rows, hold.
#include <fmt/core.h>
#include <gmock/gmock.h>

#include "deploy/local/cluster.hpp"
#include "drivers/conformance/conformance.hpp"
#include "drivers/postgres/errors.hpp"
#include "drivers/postgres/postgres.hpp"
#include "drivers/postgres/route.hpp"
#include "drivers/postgres/tables.hpp"
#include "harness/async/scope.hpp"

namespace lockmark::postgres {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::IsEmpty;

const local::cluster& servers() {
  static const auto both = local::cluster::start("postgres-pgbouncer");
  return both;
}

// The server itself.
endpoint behind_the_pooler() {
  endpoint e = read_servers(servers().target())[0];
  e.port = static_cast<std::uint16_t>(servers().servers()[0].port);
  return e;
}

struct pooled : testing::Test {
  real_clock clock;
  loop l{clock};
  names run{.run = "t" + std::to_string(clock.now().time_since_epoch().count() % 1'000'000'000),
            .keys = {"k0", "k1"}};
  traffic unused;

  std::unique_ptr<driver> make(const lock_kind& kind) const {
    driver_setup setup{.target = servers().target(), .run_names = run, .options = {}};
    for (const lock_option& o : kind.options) setup.options[std::string{o.name}] = o.preset;
    return kind.make(setup);
  }
  request ask(duration within = 5s) const {
    return {.key = 0, .client = 0, .lease = 10s, .deadline = l.now() + within, .grace = 5s};
  }
  task<std::unique_ptr<session>> open(driver& d, std::uint32_t number) {
    instance who{
        .id = "i" + std::to_string(number), .number = number, .clients = 1, .session_timeout = {}};
    co_return co_await d.open(l, who, l.now() + 10s);
  }
  // Whether some session of the server has the advisory lock of the first key.
  task<bool> is_held() {
    connection c{l, unused};
    const endpoint where = behind_the_pooler();
    co_await connect_or_throw(c, where, l.now() + 5s);
    std::string sql = fmt::format(
        "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' "
        "AND ((classid::bigint << 32) | objid::bigint) = {}",
        advisory_id(run.run, run.keys[0]));
    const answer a = co_await must(c, "look", std::move(sql), l.now() + 5s);
    const std::uint64_t held = a.at(0, 1).number(0);
    c.quit();
    co_return held > 0;
  }
};

task<void> inspect_all(pooled& t) {
  for (const lock_kind& kind : kinds()) {
    const auto locks = t.make(kind);
    const description said = co_await locks->prepare(t.l, t.l.now() + 10s);
    EXPECT_TRUE(std::ranges::count(said, description::value_type{"server.pooled", "yes"}))
        << kind.name;
    const auto found = co_await locks->preflight(t.l, {}, t.l.now() + 10s);
    if (kind.topologies.find("pgbouncer") != std::string_view::npos) {
      EXPECT_THAT(found, IsEmpty()) << kind.name;
    } else if (found.size() != 1) {
      ADD_FAILURE() << kind.name << " has " << found.size() << " findings";
    } else {
      EXPECT_FALSE(found[0].fatal);
      EXPECT_THAT(found[0].sentence, HasSubstr("stays with the pooler when its client goes on"));
      EXPECT_THAT(found[0].sentence, HasSubstr("postgres/advisory_xact"));
    }
    co_await locks->wipe(t.l, t.l.now() + 10s);
  }
}

// Only the locks of sessions are warned of.
TEST_F(pooled, the_preflight_says_it) {
  run_to_end(l, inspect_all(*this));
}

task<void> hold_together(pooled& t) {
  const auto locks = t.make(advisory());
  const auto a = co_await t.open(*locks, 0);
  const auto b = co_await t.open(*locks, 1);
  const auto first = co_await a->acquire(t.ask());
  const auto second = co_await b->acquire(t.ask());
  EXPECT_TRUE(first.done());
  EXPECT_TRUE(second.done()) << "the pooler no longer lends one session to both";
  co_await a->release(t.ask());
  co_await b->release(t.ask());
  co_await a->close();
  co_await b->close();
}

// Two clients that do nothing at the moment get the same session, whose own lock keeps it from
// nothing: both hold it.
TEST_F(pooled, a_lock_of_a_session_lets_two_in) {
  run_to_end(l, hold_together(*this));
}

task<void> leak(pooled& t) {
  const auto locks = t.make(advisory());
  const auto a = co_await t.open(*locks, 0);
  const auto held = co_await a->acquire(t.ask());
  EXPECT_TRUE(held.done());
  connection other{t.l, t.unused};
  const endpoint pooler = read_servers(servers().target())[0];
  co_await connect_or_throw(other, pooler, t.l.now() + 5s);
  co_await must(other, "begin", "BEGIN", t.l.now() + 5s);  // takes the session that has the lock
  const auto freed = co_await a->release(t.ask());
  EXPECT_TRUE(freed.refused(refusal::not_owner)) << "sent to another session";
  co_await a->close();
  co_await must(other, "commit", "COMMIT", t.l.now() + 5s);
  other.quit();
  const bool is_held = co_await t.is_held();
  EXPECT_TRUE(is_held) << "by nobody, and nobody can free it";
}

// A release that reaches another session frees nothing: the lock outlives its client.
TEST_F(pooled, a_lock_of_a_session_leaks) {
  run_to_end(l, leak(*this));
}

task<void> prepare(pooled& t, driver& d) {
  co_await d.prepare(t.l, t.l.now() + 10s);
}
task<void> wipe(pooled& t, driver& d) {
  co_await d.wipe(t.l, t.l.now() + 10s);
}

// What a crowd on one key did to the lock: times that two were inside, or a holder was not.
std::uint64_t damage_by_a_crowd(pooled& t, const lock_kind& kind) {
  const auto locks = t.make(kind);
  run_to_end(t.l, prepare(t, *locks));
  const auto done = conformance::hammer(*locks, kind, {.cycles = 200, .wait = 1s, .limit = 20s});
  run_to_end(t.l, wipe(t, *locks));
  return done.overlaps + done.lost_holds;
}

// Where the machine is busy, one client may be served after the other for a while.
TEST_F(pooled, a_crowd_breaks_the_lock_of_a_session) {
  std::uint64_t damage = 0;
  for (int tries = 0; tries < 10 && damage == 0; ++tries) {
    damage = damage_by_a_crowd(*this, advisory());
  }
  EXPECT_GT(damage, 0);
}

TEST_F(pooled, a_crowd_does_not_break_the_lock_of_a_transaction) {
  EXPECT_EQ(damage_by_a_crowd(*this, advisory_xact()), 0);
}

}  // namespace
}  // namespace lockmark::postgres
