// The preflight's findings on a real server.
#include <gmock/gmock.h>
#include <sys/resource.h>

#include "drivers/mysql/server_fixture.hpp"

namespace lockmark::mysql {
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
  static task<void> clear(server& s) { co_await s.locks->wipe(s.l, s.in(enough)); }
  ~preflight() override { run_to_end(l, clear(*this)); }
};

// A healthy server and a modest load give no findings.
TEST_F(preflight, is_silent_when_all_is_well) {
  EXPECT_TRUE(of(*locks, load_of(4, 10)).empty());
}

// More clients than any of the server's limits allows.
TEST_F(preflight, counts_connections) {
  EXPECT_THAT(told(of(*locks, load_of(30, 100)), true),
              AllOf(HasSubstr("wants 3030 connections"), HasSubstr("max_connections=2000")));
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

// Another isolation level is remarked on only for locks that rest on row locks.
TEST_F(preflight, remarks_on_isolation) {
  as_admin("SET GLOBAL tx_isolation='READ-COMMITTED'");
  const auto found = of(*locks, load_of(1, 1));
  const auto other = of(*make(target(), "mysql/get_lock"), load_of(1, 1));
  as_admin("SET GLOBAL tx_isolation='REPEATABLE-READ'");
  EXPECT_THAT(told(found, false), HasSubstr("READ-COMMITTED"));
  EXPECT_TRUE(other.empty());
}

// A missing right that is needed only later is named at once.
TEST_F(preflight, names_missing_rights) {
  as_admin("CREATE OR REPLACE USER 'clerk'@'127.0.0.1' IDENTIFIED BY 'c1erk'");
  as_admin("GRANT CREATE, INSERT, SELECT, UPDATE ON lockmark.* TO 'clerk'@'127.0.0.1'");
  const auto url = "mysql://clerk:c1erk@127.0.0.1:" + std::to_string(where.port) + "/lockmark";
  const auto clerk = make(url);
  EXPECT_THAT(told(of(*clerk, load_of(1, 1)), true),
              AllOf(HasSubstr("lacks the right DELETE"), HasSubstr("lacks the right DROP")));
  as_admin("REVOKE CREATE ON lockmark.* FROM 'clerk'@'127.0.0.1'");
  run.run += "x";
  std::string said;
  try {
    of(*make(url), load_of(1, 1));
  } catch (const no_server& e) {
    said = e.what();
  }
  EXPECT_THAT(said, HasSubstr("CREATE command denied"));
  as_admin("DROP USER 'clerk'@'127.0.0.1'");
}

// The only host is read-only.
TEST_F(preflight, refuses_a_replica) {
  as_admin("SET GLOBAL read_only=1");
  std::string said;
  try {
    of(*locks, load_of(1, 1));
  } catch (const no_server& e) {
    said = e.what();
  }
  as_admin("SET GLOBAL read_only=0");
  EXPECT_THAT(said, AllOf(HasSubstr("can only be read"), HasSubstr("127.0.0.1")));
}

}  // namespace
}  // namespace lockmark::mysql
