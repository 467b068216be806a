// TLS against a real server whose certificate comes from a private authority.
#include <fmt/core.h>
#include <gmock/gmock.h>

#include "deploy/local/cluster.hpp"
#include "drivers/conformance/conformance.hpp"
#include "drivers/postgres/errors.hpp"
#include "drivers/postgres/postgres.hpp"
#include "drivers/postgres/route.hpp"
#include "harness/async/scope.hpp"

namespace lockmark::postgres {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const local::cluster& running() {
  static const auto servers = local::cluster::start("postgres-tls");
  return servers;
}

// Answers longer than a TLS record, and than what the library reads at a time, are read whole.
task<void> ask_for_cipher(loop& l, route& way, std::string& cipher) {
  traffic sent;
  connection c{l, sent};
  co_await reach_or_throw(l, c, way, l.now() + 5s);
  for (const std::size_t length : {1U, 9000U, 16'384U, 100'000U, 300'000U}) {
    const answer a = co_await must(
        c, "ask",
        fmt::format("SELECT cipher, repeat('x', {}) FROM pg_stat_ssl WHERE pid = pg_backend_pid()",
                    length),
        l.now() + 5s);
    cipher = a.at(0, 2).text(0);
    EXPECT_EQ(a.at(0, 2).text(1).size(), length);
    EXPECT_FALSE(c.broken());
  }
}

// The cipher, or the sentence of the failed login.
std::string talk(const std::string& url) {
  const real_clock clock;
  loop l{clock};
  route way{read_servers(url)};
  std::string cipher;
  try {
    run_to_end(l, ask_for_cipher(l, way, cipher));
  } catch (const no_server& e) {
    return e.what();
  }
  return cipher;
}

std::string without_query() {
  return running().target().substr(0, running().target().find('?'));
}
std::string authority() {
  return running().target().substr(running().target().find("&ca=") + 1);
}

// With the authority's certificate the session is encrypted, and stays intact from one statement to
// the next.
TEST(tls, encrypts) {
  EXPECT_THAT(talk(running().target()), StartsWith("TLS_"));
  EXPECT_THAT(talk(without_query() + "?tls=yes&" + authority()), StartsWith("TLS_"));
  EXPECT_THAT(talk(without_query() + "?sslmode=verify-ca&" + authority()), StartsWith("TLS_"));
}

// A certificate of another authority is refused in one sentence, without the password.
TEST(tls, refuses_a_wrong_authority) {
  const std::string other = testing::TempDir() + "lockmark_other.pem";
  const std::string make = fmt::format(
      "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=other -keyout /dev/null "
      "-out '{}' 2>/dev/null",
      other);
  ASSERT_EQ(std::system(make.c_str()), 0);
  const std::string said = talk(without_query() + "?tls=yes&ca=" + other);
  EXPECT_THAT(said, AllOf(HasSubstr("TLS failed"), HasSubstr("127.0.0.1")));
  EXPECT_EQ(said.find('\n'), std::string::npos);
  const std::string password = running().target().substr(20, 24);
  EXPECT_THAT(said, Not(HasSubstr(password)));
  std::remove(other.c_str());
}

// Without the authority's certificate, the server's is trusted only on request.
TEST(tls, verifies_unless_told_not_to) {
  EXPECT_THAT(talk(without_query() + "?tls=yes"), HasSubstr("TLS failed"));
  EXPECT_THAT(talk(without_query() + "?tls=yes&verify=no"), StartsWith("TLS_"));
  EXPECT_THAT(talk(without_query() + "?sslmode=require"), StartsWith("TLS_"));
}

// A server that requires TLS refuses logins without it, and says where to look.
TEST(tls, is_wanted_by_the_server) {
  EXPECT_THAT(talk(without_query()), AllOf(HasSubstr("refused the login"), HasSubstr("sslmode")));
}

task<void> prepare(loop& l, driver& d) {
  co_await d.prepare(l, l.now() + 5s);
}

// Locks work as they do without TLS, also many on one thread, of which most wait.
TEST(tls, carries_locks) {
  const real_clock clock;
  for (const lock_kind& kind : {advisory(), advisory_xact(), lease_row()}) {
    driver_setup setup{.target = running().target(), .run_names = {"crowd", {"k0"}}, .options = {}};
    for (const lock_option& o : kind.options) setup.options[std::string{o.name}] = o.preset;
    const auto d = kind.make(setup);
    loop l{clock};
    run_to_end(l, prepare(l, *d));
    const auto done = conformance::hammer(
        *d, kind, {.sessions = 2, .clients = 4, .cycles = 200, .wait = 5s, .limit = 20s});
    EXPECT_GE(done.granted, 200U);
    EXPECT_EQ(done.overlaps, 0U);
    EXPECT_EQ(done.doubts, 0U);
    run_to_end(l, d->wipe(l, l.now() + 5s));
  }
}

}  // namespace
}  // namespace lockmark::postgres
