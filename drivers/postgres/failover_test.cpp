// The primary of three servers goes: no client hangs, all find the promoted standby, and what was
// written on two servers is still there.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <thread>

#include "deploy/local/cluster.hpp"
#include "deploy/local/fail_over.hpp"
#include "drivers/postgres/errors.hpp"
#include "drivers/postgres/postgres.hpp"
#include "drivers/postgres/route.hpp"
#include "harness/async/scope.hpp"

namespace lockmark::postgres {
namespace {

using namespace std::chrono_literals;

constexpr duration patience = 1s;   // of one call
constexpr duration tolerance = 5s;  // less than the wait for a dead server
constexpr std::uint32_t instances = 2;
constexpr std::uint32_t clients = 2;

// The outcomes of one client's calls.
struct fate {
  std::string who;
  int granted_before = 0;
  int granted_after = 0;
  duration longest{};
};

struct play {
  loop& l;
  bool recovered = false;  // grants from now on come from the promoted standby
  bool over = false;

  request ask(std::uint32_t key, std::uint32_t client) const {
    return {.key = key, .client = client, .lease = 2s, .deadline = l.now() + patience, .grace = {}};
  }
};

// Takes and gives up its own key again and again; releases after a doubt.
task<void> go_on(play& p, session& in, std::uint32_t key, std::uint32_t client, fate& f) {
  while (!p.over) {
    const time_point asked = p.l.now();
    const auto got = co_await in.acquire(p.ask(key, client));
    f.longest = std::max(f.longest, p.l.now() - asked);
    if (got.done()) ++(p.recovered ? f.granted_after : f.granted_before);
    bool settled = got.refused();
    while (!settled && !p.over) {
      const time_point released = p.l.now();
      const auto gone = co_await in.release(p.ask(key, client));
      f.longest = std::max(f.longest, p.l.now() - released);
      settled = gone.done() || gone.refused(refusal::not_owner);
      if (!settled) co_await p.l.sleep_for(10ms);
    }
    co_await p.l.sleep_for(5ms);
  }
}

std::unique_ptr<driver> make(const lock_kind& kind, const std::string& target, names run) {
  driver_setup setup{.target = target, .run_names = std::move(run), .options = {}};
  for (const lock_option& o : kind.options) setup.options[std::string{o.name}] = o.preset;
  return kind.make(setup);
}

instance process(std::uint32_t number, std::uint32_t of_clients) {
  return {.id = "i" + std::to_string(number),
          .number = number,
          .clients = of_clients,
          .session_timeout = {}};
}

// Every kind of lock on a target, each with a few instances.
struct company {
  struct member {
    lock_kind kind;
    std::unique_ptr<driver> locks;
    std::vector<std::unique_ptr<session>> sessions{};
  };
  std::vector<member> members;
  std::vector<std::unique_ptr<fate>> fates;

  company(const std::string& target, const std::string& run) {
    names all{.run = run, .keys = {}};
    for (std::uint32_t i = 0; i < instances * clients; ++i) {
      all.keys.push_back("k" + std::to_string(i));
    }
    for (const lock_kind& kind : kinds()) {
      // The readers' keys are those of their writers.
      names own = all;
      own.run += kind.has.has(feature::shared) ? "r" : "";
      members.push_back({.kind = kind, .locks = make(kind, target, own)});
    }
  }

  task<void> gather(loop& l) {
    for (member& m : members) {
      co_await m.locks->prepare(l, l.now() + 10s);
      for (std::uint32_t i = 0; i < instances; ++i) {
        auto s = co_await m.locks->open(l, process(i, clients), l.now() + 10s);
        m.sessions.push_back(std::move(s));
      }
    }
  }

  void start(play& p, scope& at) {
    for (member& m : members) {
      for (std::uint32_t key = 0; key < instances * clients; ++key) {
        fates.push_back(std::make_unique<fate>());
        fates.back()->who = std::string{m.kind.name} + " " + std::to_string(key);
        at.spawn(go_on(p, *m.sessions[key / clients], key, key % clients, *fates.back()));
      }
    }
  }

  // Waits until every client has had a grant, within a limit: judge() reports those without one.
  task<void> see_all_granted(loop& l, int fate::*when) const {
    const time_point limit = l.now() + 30s;
    const auto all_are = [&] {
      return std::ranges::all_of(fates, [when](const auto& f) { return (*f).*when > 0; });
    };
    while (!all_are() && l.now() < limit) co_await l.sleep_for(20ms);
  }

  task<void> leave(loop& l) {
    for (member& m : members) {
      for (auto& s : m.sessions) co_await s->close();
      co_await m.locks->wipe(l, l.now() + 10s);
    }
  }

  void judge() const {
    for (const auto& f : fates) {
      EXPECT_GT(f->granted_before, 0) << f->who;
      EXPECT_GT(f->granted_after, 0) << f->who;
      EXPECT_LT(f->longest, patience + tolerance) << f->who;
    }
  }
};

// As a supervisor would, beside the clients.
task<local::promotion> promote(loop& l, const local::cluster& servers) {
  std::atomic<bool> done = false;
  local::promotion result;
  std::thread supervisor([&] {
    try {
      result = local::fail_over(servers.info(), "");
    } catch (const local::start_error& e) {
      ADD_FAILURE() << e.what();
    }
    done = true;
  });
  while (!done) co_await l.sleep_for(10ms);
  supervisor.join();
  co_return result;
}

task<void> lose_the_primary(loop& l, local::cluster& servers, company& all, bool by_death) {
  co_await all.gather(l);
  play p{.l = l};
  scope everybody{l};
  all.start(p, everybody);
  co_await all.see_all_granted(l, &fate::granted_before);
  if (by_death) servers.kill("postgres-1", SIGKILL);
  const local::promotion done = co_await promote(l, servers);
  EXPECT_EQ(done.from, by_death ? "" : "postgres-1");
  p.recovered = true;
  co_await all.see_all_granted(l, &fate::granted_after);
  p.over = true;
  co_await everybody.join();
  co_await all.leave(l);
}

// The primary dies and a standby becomes the primary: clients of every kind of lock get all answers
// in time, and locks again afterwards.
TEST(failover, clients_find_the_promoted_standby) {
  const real_clock clock;
  loop l{clock};
  auto servers = local::cluster::start("postgres-replicated");
  company all{servers.target(), "fo1"};
  run_to_end(l, lose_the_primary(l, servers, all, true));
  all.judge();
}

// The same where an administrator hands over while all servers are well.
TEST(failover, clients_follow_a_planned_one) {
  const real_clock clock;
  loop l{clock};
  auto servers = local::cluster::start("postgres-replicated");
  company all{servers.target(), "fo2"};
  run_to_end(l, lose_the_primary(l, servers, all, false));
  all.judge();
}

task<outcome<grant>> try_until_answered(loop& l, session& s) {
  outcome<grant> got = refusal::unavailable;
  const time_point limit = l.now() + 20s;
  while (got.refused(refusal::unavailable) && l.now() < limit) {
    got = co_await s.acquire(
        {.key = 0, .client = 0, .lease = 60s, .deadline = l.now() + patience, .grace = 5s});
    if (got.refused(refusal::unavailable)) co_await l.sleep_for(20ms);
  }
  co_return got;
}

task<void> hold_through_a_failover(loop& l, local::cluster& servers, bool is_row) {
  const lock_kind kind = is_row ? lease_row() : advisory();
  const auto locks = make(kind, servers.target(), {.run = "fo3", .keys = {"k"}});
  co_await locks->prepare(l, l.now() + 10s);
  const auto a = co_await locks->open(l, process(0, 1), l.now() + 10s);
  const auto b = co_await locks->open(l, process(1, 1), l.now() + 10s);
  const auto held = co_await try_until_answered(l, *a);
  EXPECT_TRUE(held.done());
  servers.kill("postgres-1", SIGKILL);
  co_await promote(l, servers);
  const auto got = co_await try_until_answered(l, *b);
  EXPECT_EQ(got.done(), !is_row);
  EXPECT_EQ(got.refused(refusal::busy), is_row);
  EXPECT_EQ(a->alive(), is_row);
  const play p{.l = l};
  auto freed = co_await a->release(p.ask(0, 0));
  for (int n = 0; n < 50 && is_row && !freed.done(); ++n) {
    co_await l.sleep_for(20ms);
    freed = co_await a->release(p.ask(0, 0));
  }
  EXPECT_EQ(freed.done(), is_row);
  co_await a->close();
  co_await b->close();
  co_await locks->wipe(l, l.now() + 10s);
}

// A granted lease is on the standby that takes over; an advisory lock is not, and its holder knows.
TEST(failover, rows_survive_it_and_advisory_locks_do_not) {
  const real_clock clock;
  for (const bool is_row : {true, false}) {
    loop l{clock};
    auto servers = local::cluster::start("postgres-replicated");
    run_to_end(l, hold_through_a_failover(l, servers, is_row));
  }
}

task<void> ask_all(loop& l, const std::string& target, std::string& why) {
  std::vector<endpoint> standbys = read_servers(target);
  standbys.erase(standbys.begin());
  route way{std::move(standbys)};
  traffic unused;
  connection c{l, unused};
  const reached there = co_await way.reach(l, c, l.now() + 5s);
  why = there.why;
}

// Without a primary there is no server, and each one's reason is told.
TEST(failover, standbys_are_not_enough) {
  const real_clock clock;
  loop l{clock};
  const auto servers = local::cluster::start("postgres-replicated");
  std::string why;
  run_to_end(l, ask_all(l, servers.target(), why));
  EXPECT_NE(why.find("can only be read (a standby); postgres://"), std::string::npos) << why;
}

}  // namespace
}  // namespace lockmark::postgres
