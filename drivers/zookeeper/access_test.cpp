// Users, ACLs and the checks before a run, against a real server.
#include <gmock/gmock.h>
#include <sys/resource.h>

#include "drivers/conformance/proxy.hpp"
#include "drivers/zookeeper/test_world.hpp"

namespace lockmark::zookeeper {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string as_user(const std::string& login, const std::string& chroot = "") {
  return fmt::format("zookeeper://{}@127.0.0.1:{}{}", login, server_port(), chroot);
}

// Prepares a run; stores the error sentence if that fails.
task<void> prepare_into(driver& d, loop& l, std::string* sentence) {
  try {
    co_await d.prepare(l, l.now() + seconds(5));
  } catch (const no_server& e) {
    *sentence = e.what();
  }
}

// Nodes of one user's run are closed to others, but runs of other users may stand beside it.
TEST(digest, nodes_are_the_users_own) {
  world{sequential(), as_user("me:s3cret")}.run([](world& w) -> task<void> {
    const auto a = co_await w.open();
    const auto got = co_await a->acquire(w.ask(seconds(5)));
    EXPECT_TRUE(got.done());
    const auto stranger = w.driver_for(as_user("you:0ther"));
    std::string sentence;
    scope trials{w.here};
    trials.spawn(prepare_into(*stranger, w.here, &sentence));
    co_await trials.join();
    EXPECT_THAT(sentence, AllOf(HasSubstr("no right to create the keys"), HasSubstr("127.0.0.1"),
                                Not(HasSubstr("0ther"))));

    const auto anybody = w.driver_for(server_target());
    instance who{.id = "anybody", .number = 9, .clients = 1, .session_timeout = seconds(10)};
    const auto b = co_await anybody->open(w.here, who, w.in(seconds(5)));
    const auto refused = co_await b->acquire(w.ask(seconds(5)));
    EXPECT_TRUE(refused.refused(refusal::unavailable));
    const auto beside =
        co_await w.look->create("/lockmark/other", "", node_kind::ephemeral, w.in(seconds(5)));
    EXPECT_TRUE(beside.ok());
    const auto gone = co_await w.look->remove("/lockmark/other", w.in(seconds(5)));
    EXPECT_TRUE(gone.ok());
    co_await a->close();
    co_await b->close();
  });
}

// Without the necessary rights prepare() fails with a sentence that contains no password.
TEST(digest, missing_rights) {
  const std::string mine = "/mine";
  world{sequential(), as_user("me:s3cret", mine)}.run([](world& w) -> task<void> {
    const auto stranger = w.driver_for(as_user("you:0ther", "/mine/inner"));
    std::string sentence;
    co_await prepare_into(*stranger, w.here, &sentence);
    EXPECT_THAT(sentence, AllOf(HasSubstr("no right to create /mine/inner"),
                                Not(HasSubstr("0ther")), Not(HasSubstr("s3cret"))));
  });
}

// On a server open to everybody there are no findings.
TEST(preflight_of_a_server, finds_nothing) {
  world{sequential(), server_target()}.run([](world& w) -> task<void> {
    demand load{.instances = 100, .clients = 4, .lease = {}, .session_timeout = seconds(4)};
    const auto found = co_await w.backend->preflight(w.here, load, w.in(seconds(5)));
    EXPECT_THAT(found, IsEmpty());
  });
}

// The server grants a session timeout other than the one requested.
TEST(preflight_of_a_server, clamped_session_timeout) {
  world{sequential(), server_target()}.run([](world& w) -> task<void> {
    demand load{.instances = 1, .clients = 1, .lease = {}, .session_timeout = milliseconds(100)};
    const auto found = co_await w.backend->preflight(w.here, load, w.in(seconds(5)));
    EXPECT_EQ(found.size(), 1U);
    EXPECT_FALSE(found.at(0).fatal);
    EXPECT_THAT(found.at(0).sentence,
                HasSubstr("100 ms was asked for, and the servers grant 1000"));
  });
}

// More sessions than the process has file descriptors for.
TEST(preflight_of_a_server, too_few_descriptors) {
  world{sequential(), server_target()}.run([](world& w) -> task<void> {
    demand load{.instances = 100'000'000, .clients = 1, .lease = {}, .session_timeout = {}};
    const auto found = co_await w.backend->preflight(w.here, load, w.in(seconds(5)));
    EXPECT_EQ(found.size(), 1U);
    EXPECT_TRUE(found.at(0).fatal);
    EXPECT_THAT(found.at(0).sentence, HasSubstr("file descriptors"));
  });
}

// The run's nodes belong to another user by now.
TEST(preflight_of_a_server, missing_rights) {
  world{sequential(), as_user("me:s3cret")}.run([](world& w) -> task<void> {
    const auto stranger = w.driver_for(as_user("you:0ther"));
    demand load{.instances = 1, .clients = 1, .lease = {}, .session_timeout = {}};
    const auto found = co_await stranger->preflight(w.here, load, w.in(seconds(5)));
    EXPECT_EQ(found.size(), 1U);
    EXPECT_TRUE(found.at(0).fatal);
    EXPECT_THAT(found.at(0).sentence,
                AllOf(HasSubstr("no right to create nodes"), Not(HasSubstr("0ther"))));
  });
}

}  // namespace
}  // namespace lockmark::zookeeper
