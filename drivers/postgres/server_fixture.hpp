// Shared by the tests against a real server: the server, and a run on it with an administrator's
// connection beside it. A program's first test starts the server (server_fixture_test.cpp).
#pragma once

#include <gtest/gtest.h>

#include "drivers/postgres/errors.hpp"
#include "drivers/postgres/postgres.hpp"
#include "harness/async/scope.hpp"

namespace lockmark::postgres {

using namespace std::chrono_literals;

// The URL of the server. Its user may also inspect it and change its limits.
std::string target();

// SIGSTOP or SIGCONT to all of its processes, in force on return.
void signal_server(int signal);
// Ends it and starts it again, with its data.
void restart_server();

inline lock_kind kind_of(std::string_view name) {
  for (const lock_kind& k : kinds()) {
    if (k.name == name) return k;
  }
  throw std::logic_error("no such lock");
}

// Time for calls that must succeed, even on a busy machine.
inline constexpr duration enough = 20s;

// One run on a real server, and an administrator's connection beside it.
struct server : testing::Test {
  real_clock clock;
  loop l{clock};
  names run{.run = "t" + std::to_string(clock.now().time_since_epoch().count() % 1'000'000'000),
            .keys = {"k0", "k1", "o'Neill", "O'Neill"}};
  endpoint where = read_servers(target())[0];
  traffic unused;
  connection admin{l, unused};

  std::unique_ptr<driver> make(std::string url, std::string_view lock = "postgres/advisory",
                               const option_values& chosen = {}) {
    const lock_kind kind = kind_of(lock);
    driver_setup setup{.target = std::move(url), .run_names = run, .options = {}};
    for (const lock_option& o : kind.options) {
      setup.options[std::string{o.name}] = o.preset;
    }
    for (const auto& [name, value] : chosen) setup.options[name] = value;
    return kind.make(setup);
  }
  std::unique_ptr<driver> locks = make(target());
  std::uint32_t opened = 0;

  void use(std::string_view lock, const option_values& chosen = {}) {
    locks = make(target(), lock, chosen);
  }

  // Prepares, plays, wipes.
  void play(task<void> (*scene)(server&)) { run_to_end(l, whole(*this, scene)); }

  static task<void> whole(server& s, task<void> (*scene)(server&)) {
    co_await connect_or_throw(s.admin, s.where, s.in(enough));
    co_await s.locks->prepare(s.l, s.in(enough));
    co_await scene(s);
    co_await s.locks->wipe(s.l, s.in(enough));
    const std::string left = co_await s.look(
        "SELECT count(*) FROM pg_class WHERE relname LIKE 'lockmark\\_" + s.run.run + "%'");
    EXPECT_EQ(left, "0");
  }

  time_point in(duration d) const { return l.now() + d; }
  request ask(std::uint32_t key, duration within, std::uint32_t client = 0) const {
    return {.key = key, .client = client, .lease = 10s, .deadline = in(within), .grace = 5s};
  }

  // A session with its own identity.
  task<std::unique_ptr<session>> open(std::uint32_t clients) {
    instance who{.id = "i" + std::to_string(opened),
                 .number = opened,
                 .clients = clients,
                 .session_timeout = {}};
    ++opened;
    co_return co_await locks->open(l, who, in(20s));
  }

  // The first cell of the answer to an administrator's query.
  task<std::string> look(std::string sql) {
    const answer a = co_await must(admin, "look", sql, in(enough));
    co_return a.empty() ? "" : std::string{a.at(0, 1).cell(0).value_or("")};
  }

  // Advisory locks that are held, or waited for.
  task<std::string> advisory_locks(bool held) {
    return look(std::string{"SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND "} +
                (held ? "granted" : "NOT granted"));
  }
  task<std::string> open_transactions() {
    return look("SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'");
  }
};

}  // namespace lockmark::postgres
