// One of several servers dies: no client hangs, and all find a surviving server.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>

#include "deploy/local/cluster.hpp"
#include "deploy/local/servers.hpp"
#include "drivers/mysql/errors.hpp"
#include "drivers/mysql/mysql.hpp"
#include "drivers/mysql/route.hpp"
#include "harness/async/scope.hpp"

namespace lockmark::mysql {
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
  int refused = 0;
  int doubts = 0;
  duration longest{};
};

struct play {
  loop& l;
  bool recovered = false;  // grants from now on come from the surviving servers
  bool over = false;

  request ask(std::uint32_t key, std::uint32_t client) const {
    return {.key = key, .client = client, .lease = 2s, .deadline = l.now() + patience, .grace = {}};
  }
};

template <class T>
void note(fate& f, const outcome<T>& o, duration took) {
  f.refused += o.refused() ? 1 : 0;
  f.doubts += o.in_doubt() ? 1 : 0;
  f.longest = std::max(f.longest, took);
}

// Takes and gives up its own key again and again; releases after a doubt.
task<void> go_on(play& p, session& in, std::uint32_t key, std::uint32_t client, fate& f) {
  while (!p.over) {
    const time_point asked = p.l.now();
    const auto got = co_await in.acquire(p.ask(key, client));
    note(f, got, p.l.now() - asked);
    if (got.done()) ++(p.recovered ? f.granted_after : f.granted_before);
    bool settled = got.refused();
    while (!settled && !p.over) {
      const time_point released = p.l.now();
      const auto gone = co_await in.release(p.ask(key, client));
      note(f, gone, p.l.now() - released);
      settled = gone.done() || gone.refused(refusal::not_owner) || gone.refused(refusal::conflict);
      if (!settled) co_await p.l.sleep_for(10ms);
    }
    co_await p.l.sleep_for(5ms);
  }
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

  void add(const std::string& target, const std::string& run) {
    names all{.run = run, .keys = {}};
    for (std::uint32_t i = 0; i < instances * clients; ++i) {
      all.keys.push_back("k" + std::to_string(i));
    }
    for (const lock_kind& kind : kinds()) {
      driver_setup setup{.target = target, .run_names = all, .options = {}};
      for (const lock_option& o : kind.options) setup.options[std::string{o.name}] = o.preset;
      members.push_back({.kind = kind, .locks = kind.make(setup)});
    }
  }

  task<void> gather(loop& l) {
    for (member& m : members) {
      co_await m.locks->prepare(l, l.now() + 10s);
      for (std::uint32_t i = 0; i < instances; ++i) {
        instance who{
            .id = "i" + std::to_string(i), .number = i, .clients = clients, .session_timeout = {}};
        auto s = co_await m.locks->open(l, who, l.now() + 10s);
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

  bool all_granted(int fate::*when) const {
    return std::ranges::all_of(fates, [when](const auto& f) { return (*f).*when > 0; });
  }

  // Waits until every client has had a grant, within a limit: judge() reports those without one.
  // A Galera node may apply a dead one's INSERT after the DELETE of a client in doubt; that row
  // then stays until the sweeper's 30 s are over.
  task<void> see_all_granted(loop& l, int fate::*when) const {
    const time_point limit = l.now() + 60s;
    while (!all_granted(when) && l.now() < limit) co_await l.sleep_for(20ms);
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

local::plan administered(local::plan p) {
  p.servers[0].files[0].text +=
      "CREATE USER 'admin'@'127.0.0.1' IDENTIFIED BY 'adm1n';\n"
      "GRANT ALL ON *.* TO 'admin'@'127.0.0.1';\n";
  return p;
}

// Whether the replica has applied all that it has received.
bool has_caught_up(const answer& slave_status) {
  const row said = slave_status.at(0);
  for (std::size_t i = 0; i < said.cells(); ++i) {
    if (said.cell(i).value_or("").starts_with("Slave has read all relay log")) return true;
  }
  return false;
}

// A correct failover: the replica first applies all that it has received, or a released lock could
// come back. `position`: the master's last write, if it can still be asked.
task<void> promote(loop& l, endpoint replica, std::string position = "") {
  replica.user = "admin";
  replica.password = "adm1n";
  traffic unused;
  connection c{l, unused};
  co_await connect_or_throw(c, replica, l.now() + 5s);
  const std::string catch_up = "SELECT MASTER_GTID_WAIT('" + position + "', 5)";
  co_await must(c, "let a replica catch up", catch_up, l.now() + 6s);
  bool done = false;
  while (!done) {
    const answer a = co_await must(c, "ask a replica", "SHOW SLAVE STATUS", l.now() + 5s);
    done = has_caught_up(a);
    if (!done) co_await l.sleep_for(20ms);
  }
  for (const char* sql : {"STOP SLAVE", "RESET SLAVE ALL", "SET GLOBAL read_only=0"}) {
    co_await must(c, "promote a replica", sql, l.now() + 5s);
  }
  c.quit();
}

task<void> lose_the_master(loop& l, local::cluster& servers, company& all) {
  co_await all.gather(l);
  play p{.l = l};
  scope everybody{l};
  all.start(p, everybody);
  co_await all.see_all_granted(l, &fate::granted_before);
  servers.kill("mariadb-1", SIGKILL);
  co_await l.sleep_for(500ms);
  const endpoint replica = read_servers(servers.target()).hosts[1];
  co_await promote(l, replica);
  p.recovered = true;
  co_await all.see_all_granted(l, &fate::granted_after);
  p.over = true;
  co_await everybody.join();
  co_await all.leave(l);
}

// The master dies, and half a second later a replica becomes the master: clients of every kind of
// lock get all answers in time, and locks again afterwards.
TEST(failover, clients_find_the_promoted_replica) {
  const real_clock clock;
  loop l{clock};
  auto servers = local::cluster::start(
      local::topology{"replicated", "with an administrator",
                      [](local::site& s) { return administered(local::replicated_mariadb(s)); }});
  company all;
  all.add(servers.target(), "fo1");
  run_to_end(l, lose_the_master(l, servers, all));
  all.judge();
}

task<void> lose_a_node(loop& l, local::cluster& servers, company& all) {
  co_await all.gather(l);
  play p{.l = l};
  scope everybody{l};
  all.start(p, everybody);
  co_await all.see_all_granted(l, &fate::granted_before);
  servers.kill("mariadb-1", SIGKILL);
  co_await l.sleep_for(1s);  // the others suspect it after 5 s, and commit nothing until then
  p.recovered = true;
  co_await all.see_all_granted(l, &fate::granted_after);
  p.over = true;
  co_await everybody.join();
  co_await all.leave(l);
}

// A Galera node dies: its instances move on, whether all shared it or each had a different node.
TEST(failover, clients_move_on_to_another_galera_node) {
  const real_clock clock;
  loop l{clock};
  auto servers = local::cluster::start("mysql-galera");
  company all;
  all.add(servers.target(), "fo2");
  all.add(servers.target() + "?writers=all", "fo3");
  run_to_end(l, lose_a_node(l, servers, all));
  all.judge();
}

task<void> take(session& s, play& p, bool& granted) {
  const auto got = co_await s.acquire(p.ask(0, 0));
  granted = got.done();
}

// The third node answers nothing, so the first one's change stays on its way when that one dies.
task<void> die_with_an_insert_under_way(loop& l, local::cluster& servers, driver& d,
                                        bool& granted_again) {
  co_await d.prepare(l, l.now() + 10s);
  instance who{.id = "i", .number = 0, .clients = 1, .session_timeout = {}};
  const auto s = co_await d.open(l, who, l.now() + 10s);
  play p{.l = l};
  servers.kill("mariadb-3", SIGSTOP);
  bool granted = false;
  scope at_once{l};
  at_once.spawn(take(*s, p, granted));
  co_await l.sleep_for(200ms);
  servers.kill("mariadb-1", SIGKILL);
  servers.kill("mariadb-3", SIGCONT);
  co_await at_once.join();
  EXPECT_FALSE(granted);
  const time_point limit = l.now() + 60s;  // a row that came too late stays for ever
  for (bool settled = false; !settled && l.now() < limit;) {
    const auto gone = co_await s->release(p.ask(0, 0));
    settled = gone.done() || gone.refused(refusal::not_owner);
  }
  while (!granted_again && l.now() < limit) {
    co_await take(*s, p, granted_again);
    co_await l.sleep_for(20ms);
  }
  co_await s->close();
  co_await d.wipe(l, l.now() + 10s);
}

// A client whose node died while it was asked gives back what it may have been granted; another
// node must not tell it that there is nothing, and then make the row after all.
TEST(failover, a_change_on_its_way_is_waited_for) {
  const real_clock clock;
  loop l{clock};
  auto servers = local::cluster::start("mysql-galera");
  for (const lock_kind& kind : kinds()) {
    if (kind.name != "mysql/unique_key") continue;
    driver_setup setup{.target = servers.target() + "?writers=all",
                       .run_names = {.run = "fo5", .keys = {"k"}},
                       .options = {}};
    for (const lock_option& o : kind.options) setup.options[std::string{o.name}] = o.preset;
    setup.options["sweep"] = "off";
    const auto locks = kind.make(setup);
    bool granted_again = false;
    run_to_end(l, die_with_an_insert_under_way(l, servers, *locks, granted_again));
    EXPECT_TRUE(granted_again);
  }
}

task<void> demote_under_a_session(loop& l, local::cluster& servers, driver& d) {
  co_await d.prepare(l, l.now() + 10s);
  instance who{.id = "i", .number = 0, .clients = 1, .session_timeout = {}};
  const auto s = co_await d.open(l, who, l.now() + 10s);
  play p{.l = l};
  const auto before = co_await s->acquire(p.ask(0, 0));
  EXPECT_TRUE(before.done());
  const auto freed = co_await s->release(p.ask(0, 0));
  EXPECT_TRUE(freed.done());

  endpoint master = read_servers(servers.target()).hosts[0];
  master.user = "admin";
  master.password = "adm1n";
  traffic unused;
  connection c{l, unused};
  co_await connect_or_throw(c, master, l.now() + 5s);
  co_await must(c, "demote", "SET GLOBAL read_only=1", l.now() + 5s);
  const answer written = co_await must(c, "ask", "SELECT @@gtid_binlog_pos", l.now() + 5s);
  const auto nowhere = co_await s->acquire(p.ask(0, 0));
  EXPECT_TRUE(nowhere.refused(refusal::unavailable));
  const endpoint replica = read_servers(servers.target()).hosts[2];
  co_await promote(l, replica, std::string{written.at(0, 1).text(0)});
  auto after = co_await s->acquire(p.ask(0, 0));
  EXPECT_TRUE(after.done());
  co_await s->close();
  co_await d.wipe(l, l.now() + 5s);
}

// A master that became a replica would still grant locks on rows and names; clients reject them.
TEST(failover, a_master_that_can_only_be_read_is_left) {
  const real_clock clock;
  loop l{clock};
  auto servers = local::cluster::start(
      local::topology{"replicated", "with an administrator",
                      [](local::site& s) { return administered(local::replicated_mariadb(s)); }});
  for (const lock_kind& kind : kinds()) {
    if (kind.name != "mysql/for_update") continue;
    driver_setup setup{
        .target = servers.target(), .run_names = {.run = "fo4", .keys = {"k"}}, .options = {}};
    for (const lock_option& o : kind.options) setup.options[std::string{o.name}] = o.preset;
    const auto locks = kind.make(setup);
    run_to_end(l, demote_under_a_session(l, servers, *locks));
  }
}

}  // namespace
}  // namespace lockmark::mysql
