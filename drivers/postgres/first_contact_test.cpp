// A run's first contact with a real server: what it refuses and says of itself, and how the table
// is created.
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <map>

#include "drivers/postgres/server_fixture.hpp"

namespace lockmark::postgres {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

task<void> open_too_many(server& s) {
  co_await must(s.admin, "lower", "CREATE ROLE few LOGIN PASSWORD 'few' CONNECTION LIMIT 5",
                s.in(enough));
  const auto locks =
      s.make("postgres://few:few@127.0.0.1:" + std::to_string(s.where.port) + "/lockmark");
  std::string said;
  instance who{.id = "i", .number = 0, .clients = 30, .session_timeout = {}};
  try {
    co_await locks->open(s.l, who, s.in(enough));
  } catch (const no_server& e) {
    said = e.what();
  }
  EXPECT_THAT(said, HasSubstr("takes no more connections"));
  co_await must(s.admin, "drop", "DROP ROLE few", s.in(enough));
}

// A server without room for the clients is reported as full.
TEST_F(server, too_many_connections_are_a_sentence) {
  play(open_too_many);
}

task<void> describe(server& s) {
  const description d = co_await s.locks->prepare(s.l, s.in(enough));
  const std::map<std::string, std::string> said(d.begin(), d.end());
  EXPECT_EQ(said.at("server.flavour"), "PostgreSQL");
  EXPECT_EQ(said.at("server.durability"), "each commit");
  EXPECT_EQ(said.at("server.pooled"), "no");
  EXPECT_EQ(said.at("server.fsync"), "on");
  EXPECT_EQ(said.count("server.version"), 1U);
  const server_counters c = co_await s.locks->counters(s.l, s.in(enough));
  EXPECT_GT(c.at("transactions_committed"), 0U);
  EXPECT_GT(c.at("wal_bytes"), 0U);
}

// A run's provenance and the server's counters are there.
TEST_F(server, describes_the_server) {
  play(describe);
}

task<void> describe_less_durable(server& s) {
  for (const auto& [value, expected] :
       {std::pair{"off", "all but 1 s"}, {"local", "each commit"}}) {
    const std::string sql =
        std::string{"ALTER DATABASE lockmark SET synchronous_commit = "} + value;
    co_await must(s.admin, "set", sql, s.in(enough));
    const description d = co_await s.locks->prepare(s.l, s.in(enough));
    const std::map<std::string, std::string> said(d.begin(), d.end());
    EXPECT_EQ(said.at("server.durability"), expected);
  }
  co_await must(s.admin, "reset", "ALTER DATABASE lockmark RESET synchronous_commit", s.in(enough));
}

task<void> describe_own_setting(server& s) {
  s.use("postgres/unique_key", {{"synchronous_commit", "off"}});
  const description d = co_await s.locks->prepare(s.l, s.in(enough));
  const std::map<std::string, std::string> said(d.begin(), d.end());
  EXPECT_EQ(said.at("server.synchronous_commit"), "off");
  EXPECT_EQ(said.at("server.durability"), "all but 1 s");
}

// What the lock itself sets counts, whatever the server's own setting is.
TEST_F(server, tells_what_the_lock_makes_durable) {
  play(describe_own_setting);
}

// The table's column says what survives a crash.
TEST_F(server, tells_what_is_durable) {
  play(describe_less_durable);
}

task<void> prepare_elsewhere(loop& l, driver& d, duration within, std::string& said) {
  try {
    co_await d.prepare(l, l.now() + within);
  } catch (const no_server& e) {
    said = e.what();
  }
}

struct no_login : server {
  std::string attempt(const endpoint& e, const std::string& password, duration within = enough) {
    const auto d = make("postgres://" + e.user + ":" + password + "@" + e.host + ":" +
                        std::to_string(e.port) + "/" + e.database);
    std::string said;
    run_to_end(l, prepare_elsewhere(l, *d, within, said));
    EXPECT_THAT(said, Not(HasSubstr("hush")));
    return said;
  }
};

// A wrong password is refused with a sentence that does not repeat it.
TEST_F(no_login, wrong_password) {
  EXPECT_THAT(attempt(where, "hush"), AllOf(HasSubstr("refused the login"), HasSubstr("28P01")));
}

// A missing database.
TEST_F(no_login, unknown_database) {
  endpoint e = where;
  e.database = "lockmark_nowhere";
  EXPECT_THAT(attempt(e, e.password), AllOf(HasSubstr("lockmark_nowhere"), HasSubstr("not exist")));
}

// No listener.
TEST_F(no_login, closed_port) {
  endpoint e = where;
  e.port = 1;
  EXPECT_THAT(attempt(e, "hush"), HasSubstr("nothing accepts connections"));
}

// No such host.
TEST_F(no_login, unknown_host) {
  endpoint e = where;
  e.host = "nowhere.invalid";
  EXPECT_THAT(attempt(e, "hush"), AllOf(HasSubstr("nowhere.invalid"), HasSubstr("translate")));
}

// A listener that accepts connections and stays silent.
TEST_F(no_login, silent_server) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(bind(listener, generic, size), 0);
  ASSERT_EQ(listen(listener, 4), 0);
  ASSERT_EQ(getsockname(listener, generic, &size), 0);
  endpoint e = where;
  e.port = ntohs(address.sin_port);
  EXPECT_THAT(attempt(e, "hush", 400ms),
              HasSubstr("no answer to the login within the time allowed"));
  close(listener);
}

}  // namespace
}  // namespace lockmark::postgres
