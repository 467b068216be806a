// Shared by the tests against a real server: the server, and a run on it with an administrator's
// connection beside it. A program's first test starts the server (server_fixture_test.cpp).
#pragma once

#include <gtest/gtest.h>

#include "drivers/mysql/errors.hpp"
#include "drivers/mysql/mysql.hpp"
#include "harness/async/scope.hpp"

namespace lockmark::mysql {

using namespace std::chrono_literals;

// The URL of the server. Its user may also inspect it and change its limits.
std::string target();

// SIGSTOP or SIGCONT, in force on return.
void signal_server(int signal);

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
  endpoint where = read_servers(target()).hosts[0];
  traffic unused;
  connection admin{l, unused};

  std::unique_ptr<driver> make(std::string url, std::string_view lock = "mysql/for_update",
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

  // Prepares, plays, wipes.
  void play(task<void> (*scene)(server&)) { run_to_end(l, whole(*this, scene)); }

  static task<void> whole(server& s, task<void> (*scene)(server&)) {
    if (!s.admin.connected()) co_await connect_or_throw(s.admin, s.where, s.in(enough));
    co_await s.locks->prepare(s.l, s.in(enough));
    co_await scene(s);
    co_await s.locks->wipe(s.l, s.in(enough));
  }

  time_point in(duration d) const { return l.now() + d; }
  request ask(std::uint32_t key, duration within, std::uint32_t client = 0) const {
    return {.key = key, .client = client, .lease = {}, .deadline = in(within), .grace = 5s};
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
    co_return a.empty() ? "" : std::string{a.at(0).cell(0).value_or("")};
  }

  // A column of the open transactions; InnoDB repeats answers less than 0.1 s old.
  task<std::string> transactions(std::string column) {
    co_await l.sleep_for(150ms);
    co_return co_await look("SELECT " + column + " FROM information_schema.innodb_trx");
  }
};

}  // namespace lockmark::mysql
