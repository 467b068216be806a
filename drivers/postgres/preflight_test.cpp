// The preflight of a run against a real server with various settings.
#include <gmock/gmock.h>
#include <sys/resource.h>

#include "drivers/postgres/server_fixture.hpp"

namespace lockmark::postgres {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string told(const std::vector<finding>& findings, bool fatal) {
  std::string all;
  for (const finding& f : findings) {
    if (f.fatal == fatal) all += f.sentence + "\n";
  }
  return all;
}

demand load_of(std::uint32_t instances, std::uint32_t clients) {
  return {.instances = instances, .clients = clients, .lease = {}, .session_timeout = {}};
}

struct preflight : server {
  // Rethrows the exception of prepare.
  static task<void> look(server& s, driver& d, demand load, std::vector<finding>& found) {
    co_await d.prepare(s.l, s.in(enough));
    found = co_await d.preflight(s.l, load, s.in(enough));
    co_await d.wipe(s.l, s.in(enough));
  }
  std::vector<finding> of(driver& d, demand load) {
    std::vector<finding> found;
    run_to_end(l, look(*this, d, load, found));
    return found;
  }
  static task<void> set(server& s, std::string sql) {
    if (!s.admin.connected()) co_await connect_or_throw(s.admin, s.where, s.in(enough));
    co_await must(s.admin, "set", std::move(sql), s.in(enough));
  }
  void as_admin(const std::string& sql) { run_to_end(l, set(*this, sql)); }
  // For sessions from now on.
  void let_be(const std::string& setting, const std::string& value) {
    as_admin("ALTER DATABASE lockmark SET " + setting + " = " + value);
  }
  void reset(const std::string& setting) { as_admin("ALTER DATABASE lockmark RESET " + setting); }
};

// A healthy server and a modest load give no findings.
TEST_F(preflight, is_silent_when_all_is_well) {
  for (const lock_kind& kind : kinds()) {
    EXPECT_EQ(told(of(*make(target(), kind.name), load_of(4, 10)), false), "") << kind.name;
    EXPECT_EQ(told(of(*make(target(), kind.name), load_of(4, 10)), true), "") << kind.name;
  }
}

// More clients than any of the server's limits allows.
TEST_F(preflight, counts_connections) {
  EXPECT_THAT(told(of(*locks, load_of(30, 100)), true),
              AllOf(HasSubstr("wants 3000 connections"), HasSubstr("max_connections=2000")));
  as_admin("ALTER DATABASE lockmark CONNECTION LIMIT 50");
  const auto found = of(*locks, load_of(3, 20));
  as_admin("ALTER DATABASE lockmark CONNECTION LIMIT -1");
  EXPECT_THAT(told(found, true), HasSubstr("its database may have 50"));
}

// More descriptors than this process may have.
TEST_F(preflight, counts_descriptors) {
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  rlimit low = before;
  low.rlim_cur = 256;
  setrlimit(RLIMIT_NOFILE, &low);
  const auto found = of(*locks, load_of(4, 100));
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_THAT(told(found, true), HasSubstr("may open 256 files"));
}

// Settings that change what a lock of a transaction does are remarked on, for those alone.
TEST_F(preflight, remarks_on_settings_of_transactions) {
  let_be("default_transaction_isolation", "'serializable'");
  let_be("idle_in_transaction_session_timeout", "'7s'");
  const auto found = of(*make(target(), "postgres/for_update"), load_of(1, 1));
  const auto other = of(*locks, load_of(1, 1));
  reset("default_transaction_isolation");
  reset("idle_in_transaction_session_timeout");
  EXPECT_THAT(told(found, false),
              AllOf(HasSubstr("serializable"), HasSubstr("timeout is 7000 ms")));
  EXPECT_TRUE(other.empty());
}

// Transactions that may only read cannot carry a lock.
TEST_F(preflight, refuses_a_server_that_can_only_be_read) {
  let_be("default_transaction_read_only", "on");
  std::string said;
  try {
    of(*locks, load_of(1, 1));
  } catch (const no_server& e) {
    said = e.what();
  }
  as_admin("SET default_transaction_read_only = off");
  reset("default_transaction_read_only");
  EXPECT_THAT(said, AllOf(HasSubstr("can only be read"), HasSubstr("127.0.0.1")));
}

// A user who may not create the run's table is told so at once, in the server's words.
TEST_F(preflight, names_missing_rights) {
  as_admin("CREATE ROLE clerk LOGIN PASSWORD 'c1erk'");
  const auto url = "postgres://clerk:c1erk@127.0.0.1:" + std::to_string(where.port) + "/lockmark";
  std::string said;
  try {
    of(*make(url, "postgres/unique_key"), load_of(1, 1));
  } catch (const no_server& e) {
    said = e.what();
  }
  EXPECT_TRUE(of(*make(url), load_of(1, 1)).empty()) << "advisory locks need no right";
  as_admin("DROP ROLE clerk");
  EXPECT_THAT(said, AllOf(HasSubstr("cannot create table"), HasSubstr("permission denied")));
}

}  // namespace
}  // namespace lockmark::postgres
