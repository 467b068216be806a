// A run's first contact with a real server: what it refuses and says of itself, and how the table
// is created.
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "drivers/mysql/server_fixture.hpp"

namespace lockmark::mysql {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

task<void> open_too_many(server& s) {
  const std::string limit = co_await s.look("SELECT @@max_connections");
  co_await must(s.admin, "lower", "SET GLOBAL max_connections=10", s.in(enough));
  std::string said;
  try {
    co_await s.open(30);
  } catch (const no_server& e) {
    said = e.what();
  }
  EXPECT_THAT(said, HasSubstr("takes no more connections"));
  co_await must(s.admin, "raise", "SET GLOBAL max_connections=" + limit, s.in(enough));
}

// A server without room for the clients is reported as full.
TEST_F(server, too_many_connections_are_a_sentence) {
  play(open_too_many);
}

task<void> describe(server& s) {
  const description d = co_await s.locks->prepare(s.l, s.in(enough));
  const std::map<std::string, std::string> said(d.begin(), d.end());
  EXPECT_EQ(said.count("server.version"), 1U);
  EXPECT_EQ(said.count("server.flavour"), 1U);
  EXPECT_EQ(said.count("server.innodb_flush_log_at_trx_commit"), 1U);
  EXPECT_EQ(said.count("server.durability"), 1U);
  // MariaDB from 11.1 on has both names.
  EXPECT_GE(said.count("server.tx_isolation") + said.count("server.transaction_isolation"), 1U);
  const server_counters c = co_await s.locks->counters(s.l, s.in(enough));
  EXPECT_GT(c.at("commands"), 0U);
  EXPECT_GT(c.at("cmd.select"), 0U);
  EXPECT_EQ(c.count("innodb_row_lock_waits"), 1U);
}

// A run's provenance and the server's counters are there.
TEST_F(server, describes_the_server) {
  play(describe);
}

task<void> prepare_behind(server& s, time_point deadline, bool& done) {
  co_await s.locks->prepare(s.l, deadline);
  done = true;
}

task<void> create_late(server& s) {
  co_await s.locks->wipe(s.l, s.in(enough));
  co_await must(s.admin, "stop all writes", "FLUSH TABLES WITH READ LOCK", s.in(enough));
  const time_point contact_by = s.in(3s);
  bool done = false;
  scope side(s.l);
  side.spawn(prepare_behind(s, contact_by, done));
  co_await s.l.sleep_until(contact_by + 100ms);
  EXPECT_FALSE(done) << "nothing delays a CREATE TABLE";
  co_await must(s.admin, "let all write", "UNLOCK TABLES", s.in(enough));
  co_await side.join();
  EXPECT_TRUE(done);
}

// Creating a table takes as long as the server's disk; only a silent server ends a run in seconds.
TEST_F(server, creates_its_table_after_the_deadline_for_contact) {
  play(create_late);
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
    const auto d = make("mysql://" + e.user + ":" + password + "@" + e.host + ":" +
                        std::to_string(e.port) + "/" + e.database);
    std::string said;
    run_to_end(l, prepare_elsewhere(l, *d, within, said));
    EXPECT_THAT(said, Not(HasSubstr("hush")));
    return said;
  }
};

// A wrong password is refused with a sentence that does not repeat it.
TEST_F(no_login, wrong_password) {
  EXPECT_THAT(attempt(where, "hush"), AllOf(HasSubstr("refused the login"), HasSubstr("1045")));
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
}  // namespace lockmark::mysql
