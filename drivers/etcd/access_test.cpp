// TLS and logins, against a real server that asks for both.
#include <gmock/gmock.h>

#include <csignal>
#include <map>

#include "deploy/local/cluster.hpp"
#include "drivers/etcd/test_world.hpp"

namespace lockmark::etcd {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

local::cluster& server() {
  static local::cluster one = local::cluster::start("etcd-tls");
  return one;
}

// "etcd://LOGIN127.0.0.1:PORT?tls=yes&ca=..."
std::string url_as(const std::string& login) {
  const std::string& whole = server().target();
  return "etcd://" + login + whole.substr(whole.find('@') + 1);
}

task<void> prepare_into(driver& d, loop& l, std::string* sentence) {
  try {
    co_await d.prepare(l, l.now() + seconds(5));
  } catch (const lockmark::no_server& e) {
    *sentence = e.what();
  }
}

std::string complaint_about_url(const std::string& url) {
  const real_clock clock;
  loop here{clock};
  const driver_setup setup{.target = url, .run_names = {"x", {"k"}}, .options = {}};
  const auto backend = mutex().make(setup);
  std::string sentence;
  run_to_end(here, prepare_into(*backend, here, &sentence));
  return sentence;
}

// A login that is refused, or missing, is one sentence without a password.
TEST(login, is_needed) {
  EXPECT_THAT(
      complaint_about_url(url_as("lockmark:wr0ng@")),
      AllOf(HasSubstr("refused the login"), HasSubstr("127.0.0.1"), Not(HasSubstr("wr0ng"))));
  EXPECT_THAT(complaint_about_url(url_as("nobody:s3cret@")),
              AllOf(HasSubstr("refused the login"), Not(HasSubstr("s3cret"))));
  EXPECT_THAT(complaint_about_url(url_as("")), HasSubstr("name a user, as etcd://user:password@"));
}

TEST(tls, is_needed) {
  const std::string plain = url_as("").substr(0, url_as("").find('?'));
  EXPECT_THAT(complaint_about_url(plain), HasSubstr("tls=yes"));
  EXPECT_THAT(complaint_about_url(plain + "?tls=yes"), HasSubstr("certificate verify failed"));
}

// Of a user who may not ask for the status, the page of metrics tells the same.
TEST(driver, describes_a_server_that_asks_for_logins) {
  world{mutex(), server().target()}.run([](world& w) -> task<void> {
    const auto about = co_await w.backend->prepare(w.here, w.in(seconds(20)));
    std::map<std::string, std::string> fields(about.begin(), about.end());
    EXPECT_THAT(fields["server.version"], testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
    EXPECT_EQ(fields["server.mode"], "leader");
    demand load{.instances = 1, .clients = 1, .lease = {}, .session_timeout = seconds(4)};
    const auto found_here = co_await w.backend->preflight(w.here, load, w.in(seconds(20)));
    EXPECT_THAT(found_here, IsEmpty());
    const auto counters = co_await w.backend->counters(w.here, w.in(seconds(20)));
    EXPECT_GT(counters.at("commands"), 0U);
  });
}

// Tokens end with the process that made them. A session logs in again, whichever call notices
// first; its lease has survived.
TEST(login, is_repeated_when_the_token_has_ended) {
  world{mutex(), server().target()}.run([](world& w) -> task<void> {
    w.session_timeout = seconds(30);
    const auto a = co_await w.open();
    const auto held = co_await a->acquire(w.ask(seconds(20)));
    EXPECT_TRUE(held.done());
    server().kill("etcd", SIGKILL);
    server().restart("etcd");  // blocks this loop: with no call under way
    const time_point soon = w.in(seconds(15));
    while (a->sent().reconnects == 0 && w.here.now() < soon) {
      co_await w.here.sleep_for(milliseconds(10));
    }
    const auto released = co_await a->release(w.ask(seconds(10)));
    EXPECT_TRUE(released.done());
    for (std::uint32_t client = 0; client < 4; ++client) {
      const auto again = co_await a->acquire(w.ask(seconds(10), client));
      EXPECT_TRUE(again.done());
      const auto gone = co_await a->release(w.ask(seconds(10), client));
      EXPECT_TRUE(gone.done());
    }
    co_await a->close();
  });
}

}  // namespace
}  // namespace lockmark::etcd

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  lockmark::etcd::server();  // forks, so before any thread exists
  return RUN_ALL_TESTS();
}
