// TLS against a real server whose certificate comes from a private authority.
#include <gmock/gmock.h>

#include <fstream>

#include "deploy/local/cluster.hpp"
#include "drivers/conformance/conformance.hpp"
#include "drivers/mysql/errors.hpp"
#include "drivers/mysql/mysql.hpp"
#include "drivers/mysql/route.hpp"
#include "harness/async/scope.hpp"

namespace lockmark::mysql {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

const local::cluster& running() {
  static const auto servers = local::cluster::start("mysql-tls");
  return servers;
}

task<void> ask_for_cipher(loop& l, route& way, std::string& cipher) {
  traffic sent;
  connection c{l, sent};
  co_await reach_or_throw(l, c, way, l.now() + 5s);
  for (int n = 0; n < 3; ++n) {
    const answer a = co_await must(c, "ask", "SHOW STATUS LIKE 'Ssl_cipher'", l.now() + 5s);
    cipher = a.at(0, 2).text(1);
    EXPECT_FALSE(c.broken());
  }
  EXPECT_GT(sent.bytes_in, 0U);
}

// The cipher, or the sentence of the failed login.
std::string talk(const std::string& url) {
  const real_clock clock;
  loop l{clock};
  prepare_library();
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

// With the authority's certificate the session is encrypted, and stays intact from one statement to
// the next.
TEST(tls, encrypts) {
  EXPECT_THAT(talk(running().target()), AllOf(Not(""), Not(HasSubstr("mysql://"))));
}

// A certificate of another authority is refused in one sentence, without the password.
TEST(tls, refuses_a_wrong_authority) {
  const std::string other = running().directory() + "/other.pem";
  const std::string make =
      "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=other "
      "-keyout /dev/null -out '" +
      other + "' 2>/dev/null";
  ASSERT_EQ(std::system(make.c_str()), 0);
  const std::string said = talk(without_query() + "?tls=yes&ca=" + other);
  EXPECT_THAT(said, AllOf(HasSubstr("TLS failed"), HasSubstr("127.0.0.1")));
  EXPECT_EQ(said.find('\n'), std::string::npos);
  const std::string password = running().target().substr(17, 24);
  EXPECT_THAT(said, Not(HasSubstr(password)));
}

// Without the authority's certificate, the server's is trusted only on request; or if the server
// proves by the password that it is its own, as MariaDB from 11.4 on does for a library from 3.4
// on.
TEST(tls, verifies_unless_told_not_to) {
  EXPECT_THAT(talk(without_query() + "?tls=yes"),
              HasSubstr(library_proves_certificates() ? "TLS_" : "TLS failed"));
  EXPECT_THAT(talk(without_query() + "?tls=yes&verify=no"), AllOf(Not(""), Not(HasSubstr("my"))));
}

// A server that requires TLS refuses logins without it; older MariaDB gives no reason.
TEST(tls, is_wanted_by_the_server) {
  EXPECT_THAT(talk(without_query()), AnyOf(HasSubstr("refused the login"),
                                           HasSubstr("the server wants TLS: add ?tls=yes")));
}

task<void> cycle(loop& l, driver& d) {
  co_await d.prepare(l, l.now() + 5s);
  instance who{.id = "i", .number = 0, .clients = 2, .session_timeout = {}};
  const auto s = co_await d.open(l, who, l.now() + 5s);
  for (int n = 0; n < 10; ++n) {
    const request r{.key = 0, .client = 0, .lease = {}, .deadline = l.now() + 2s, .grace = 5s};
    const auto got = co_await s->acquire(r);
    EXPECT_TRUE(got.done());
    const request w{.key = 0, .client = 1, .lease = {}, .deadline = l.now() + 200ms, .grace = 5s};
    const auto late = co_await s->acquire(w);
    EXPECT_TRUE(late.refused(refusal::deadline));
    const auto freed = co_await s->release(r);
    EXPECT_TRUE(freed.done());
  }
  EXPECT_EQ(s->sent().reconnects, 0U);
  co_await s->close();
  co_await d.wipe(l, l.now() + 5s);
}

// A lock works as it does without TLS, even if the client ends its waits.
TEST(tls, carries_a_lock) {
  const real_clock clock;
  loop l{clock};
  driver_setup setup{.target = running().target(), .run_names = {"tls", {"k0"}}, .options = {}};
  const lock_kind kind = kinds().front();
  for (const lock_option& o : kind.options) setup.options[std::string{o.name}] = o.preset;
  const auto d = kind.make(setup);
  run_to_end(l, cycle(l, *d));
}

task<void> prepare(loop& l, driver& d) {
  co_await d.prepare(l, l.now() + 5s);
}

// A wait for a row lock must not block the thread that its holder needs to release it.
TEST(tls, a_waiting_client_does_not_stop_the_others_of_its_thread) {
  const lock_kind kind = kinds().front();
  driver_setup setup{.target = running().target(), .run_names = {"crowd", {"k0"}}, .options = {}};
  for (const lock_option& o : kind.options) setup.options[std::string{o.name}] = o.preset;
  const auto d = kind.make(setup);
  const real_clock clock;
  loop l{clock};
  run_to_end(l, prepare(l, *d));
  const auto done = conformance::hammer(
      *d, kind, {.sessions = 2, .clients = 4, .cycles = 200, .wait = 5s, .limit = 10s});
  EXPECT_GE(done.granted, 200U);
  EXPECT_EQ(done.refused, 0U);
  EXPECT_EQ(done.overlaps, 0U);
  run_to_end(l, d->wipe(l, l.now() + 5s));
}

}  // namespace
}  // namespace lockmark::mysql
