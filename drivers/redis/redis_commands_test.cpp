// Commands that only newer servers have, and no topology of these tests: by what a fake server is
// asked.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>

#include "drivers/redis/fake_server.hpp"
#include "drivers/redis/redis.hpp"
#include "harness/async/scope.hpp"

namespace lockmark::redis {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

// --- WAITAOF, in a Cluster of one node ---

// A master with one replica, of which `confirmed` have each write in their files. Notes what is
// asked about replicas.
class node_with_a_file {
 public:
  explicit node_with_a_file(std::string version, int confirmed = 1)
      : version_(std::move(version)),
        confirmed_(confirmed),
        server_([this](const fake_server::command& c, const fake_server::peer& to) {
          return to.send(answer(c));
        }) {}

  std::string url() const { return "redis+cluster://" + server_.address(); }
  std::vector<std::string> waits() {
    const std::lock_guard guard(mutex_);
    return waits_;
  }

 private:
  std::string answer(const fake_server::command& c) {
    if (c.empty()) return "-ERR\r\n";
    if (c[0] == "INFO") {
      return as_text(
          fmt::format("redis_version:{}\r\nredis_mode:cluster\r\nrole:master\r\n"
                      "connected_slaves:1\r\naof_enabled:1\r\n",
                      version_));
    }
    if (c[0] == "CLUSTER") {
      const std::string address = server_.address();
      const std::string host = address.substr(0, address.find(':'));
      return fmt::format("*1\r\n*3\r\n:0\r\n:16383\r\n*3\r\n{}:{}\r\n{}", as_text(host),
                         address.substr(address.find(':') + 1), as_text("id"));
    }
    if (c[0] == "PUBSUB") return "*0\r\n";
    if (c[0].starts_with("WAIT")) {
      const std::lock_guard guard(mutex_);
      waits_.push_back(fmt::format("{}", fmt::join(c, " ")));
      return c[0] == "WAIT" ? fmt::format(":{}\r\n", confirmed_)
                            : fmt::format("*2\r\n:1\r\n:{}\r\n", confirmed_);
    }
    // The first script takes, and the second gives up.
    if (c[0].starts_with("EVAL")) return c.at(2) == "1" ? "$-1\r\n" : ":1\r\n";
    return usual_answer(c);
  }

  const std::string version_;
  const int confirmed_;
  std::mutex mutex_;
  std::vector<std::string> waits_;
  fake_server server_;
};

task<void> take_and_give_up(loop& l, driver& d, std::string& ending) {
  const time_point by = l.now() + 5s;
  co_await d.prepare(l, by);
  const instance who{.id = "i"};
  const auto s = co_await d.open(l, who, by);
  const request r{.lease = 10s, .deadline = by};
  const auto got = co_await s->acquire(r);
  ending = got.done() ? "done" : got.refused() ? name_of(got.why_refused()) : "in doubt";
  if (got.done()) co_await s->release(r);
  co_await s->close();
}

// The ending of an attempt with these options.
std::string ending_at(node_with_a_file& node, option_values options) {
  const real_clock clock;
  loop l{clock};
  driver_setup setup{.target = node.url(), .run_names = {"test", {"a"}}, .options = options};
  const lock_kind kind = redisson();
  for (const auto& o : kind.options) setup.options.emplace(o.name, o.preset);
  const auto d = kind.make(setup);
  std::string ending;
  scope all{l};
  all.spawn(take_and_give_up(l, *d, ending));
  l.run();
  return ending;
}

TEST(waitaof, is_what_older_redissons_send) {
  node_with_a_file node("7.2.4");
  EXPECT_EQ(ending_at(node, {{"wait_aof", "true"}}), "done");
  EXPECT_THAT(node.waits(), ElementsAre("WAITAOF 1 1 1000", "WAITAOF 1 1 1000"));
}

TEST(waitaof, is_not_sent_unless_asked_for) {
  node_with_a_file node("8.0.6");
  EXPECT_EQ(ending_at(node, {}), "done");
  EXPECT_THAT(node.waits(), ElementsAre("WAIT 1 1000", "WAIT 1 1000"));
}

TEST(waitaof, is_unknown_to_older_servers) {
  node_with_a_file node("7.0.15");
  EXPECT_EQ(ending_at(node, {{"wait_aof", "true"}}), "done");
  EXPECT_THAT(node.waits(), ElementsAre("WAIT 1 1000", "WAIT 1 1000"));
}

// Confirmed by the master's file only.
TEST(waitaof, counts_replicas) {
  node_with_a_file node("7.2.4", 0);
  EXPECT_EQ(ending_at(node, {{"wait_aof", "true"}}), "unavailable");
}

// checkLockSyncedSlaves=false: replicas are waited for all the same.
TEST(replicas, are_waited_for_and_ignored) {
  node_with_a_file node("7.0.15", 0);
  EXPECT_EQ(ending_at(node, {{"wait", "ignore"}}), "done");
  EXPECT_THAT(node.waits(), ElementsAre("WAIT 1 1000", "WAIT 1 1000"));
  node_with_a_file unasked("7.0.15", 0);
  EXPECT_EQ(ending_at(unasked, {{"wait", "none"}}), "done");
  EXPECT_THAT(unasked.waits(), ElementsAre());
}

// --- a release by one command ---

// The commands that a set_nx_px lock sends to a server that knows `known`.
std::vector<std::string> asked_of(const std::string& known, std::string& complaint) {
  std::mutex mutex;
  std::vector<std::string> all;
  fake_server server([&](const fake_server::command& c, const fake_server::peer& to) {
    const bool is_newer = !c.empty() && c[0].starts_with("DEL") && c[0] != "DEL";
    if (!is_newer) return to.send(usual_answer(c));
    const std::lock_guard guard(mutex);
    all.push_back(fmt::format("{}", fmt::join(c, " ")));
    return to.send(c[0] == known ? ":1\r\n" : "-ERR unknown command\r\n");
  });
  const real_clock clock;
  loop l{clock};
  const lock_kind kind = set_nx_px();
  driver_setup setup{.target = server.url(), .run_names = {"test", {"a"}}, .options = {}};
  setup.options = {{"release", "command"}, {"wait_replicas", "0"}};
  const auto d = kind.make(setup);
  std::string ending;
  scope tasks{l};
  const auto use = [&]() -> task<void> {
    try {
      co_await take_and_give_up(l, *d, ending);
    } catch (const usage_error& e) {
      complaint = e.what();
    }
  };
  tasks.spawn(use());
  l.run();
  return all;
}

TEST(release_by_command, is_the_one_that_the_server_has) {
  std::string complaint;
  EXPECT_THAT(asked_of("DELIFEQ", complaint),
              ElementsAre("DELIFEQ lockmark:test:a ", "DELIFEQ lockmark:test:a i:1"));
  EXPECT_THAT(asked_of("DELEX", complaint),
              ElementsAre("DELIFEQ lockmark:test:a ", "DELEX lockmark:test:a IFEQ ",
                          "DELEX lockmark:test:a IFEQ i:1"));
  EXPECT_EQ(complaint, "");
}

TEST(release_by_command, needs_a_server_that_has_one) {
  std::string complaint;
  asked_of("none", complaint);
  EXPECT_THAT(complaint, testing::HasSubstr("has no command that compares and deletes"));
}

}  // namespace
}  // namespace lockmark::redis
