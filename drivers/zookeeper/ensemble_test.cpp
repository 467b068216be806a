// A member of an ensemble dies during a run: calls keep their deadlines, the lock stays usable, and
// there are never two holders.
#include <gmock/gmock.h>

#include <csignal>

#include "deploy/local/cluster.hpp"
#include "drivers/zookeeper/four_letter.hpp"
#include "drivers/zookeeper/test_world.hpp"

namespace lockmark::zookeeper {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

local::cluster& ensemble() {
  static local::cluster three = local::cluster::start("zookeeper-3");
  return three;
}

// The name of the current leader; empty if there is none.
task<std::string> leader(world& w) {
  const servers where = servers_at(ensemble().target());
  const auto answers = co_await ask_all(w.here, where.hosts, "srvr", w.in(seconds(1)));
  for (std::size_t i = 0; i < answers.size(); ++i)
    if (fields_in(answers[i].text, ": ")["Mode"] == "leader")
      co_return ensemble().servers()[i].name;
  co_return "";
}

// The state shared by the clients of one key.
struct crowd {
  int inside = 0;
  int overlaps = 0;
  int granted = 0;
  int after_the_kill = 0;
  int lost_holds = 0;
  std::string killed;
  bool done = false;
  std::uint64_t last_token = 0;
  int tokens_fell = 0;
  duration longest_overrun{};
};

constexpr duration patience = milliseconds(1500);
constexpr duration grace = milliseconds(700);

request ask(const world& w, std::uint32_t client) {
  request r = w.ask(patience, client);
  r.grace = grace;
  return r;
}

void keep_time(const world& w, const request& r, crowd& all) {
  all.longest_overrun = std::max(all.longest_overrun, w.here.now() - r.answer_by());
}

// A hold counts only while its session reports alive(): a grant to another client is no overlap
// once the holder has been told.
task<void> come_and_go(world& w, session& s, std::uint32_t client, crowd& all) {
  while (!all.done) {
    const request wanted = ask(w, client);
    const auto got = co_await s.acquire(wanted);
    keep_time(w, wanted, all);
    if (!got.done()) {
      co_await w.here.sleep_for(milliseconds(20));
      continue;
    }
    ++all.granted;
    if (!all.killed.empty()) ++all.after_the_kill;
    if (got.value().token <= all.last_token) ++all.tokens_fell;
    all.last_token = got.value().token;
    if (++all.inside > 1) ++all.overlaps;
    co_await w.here.sleep_for(milliseconds(2));
    --all.inside;
    const request given_up = ask(w, client);
    const auto released = co_await s.release(given_up);
    keep_time(w, given_up, all);
    if (released.refused(refusal::not_owner)) ++all.lost_holds;
  }
}

// Lets the clients run, kills the leader, and lets them run until the lock has worked for a while.
task<void> kill_the_leader(world& w, crowd& all) {
  const time_point warm = w.in(seconds(20));
  while (all.granted < 50 && w.here.now() < warm) co_await w.here.sleep_for(milliseconds(20));
  const std::string first = co_await leader(w);
  EXPECT_NE(first, "");
  ensemble().kill(first, SIGKILL);
  all.killed = first;
  const time_point end = w.in(seconds(25));
  while (all.after_the_kill < 100 && w.here.now() < end)
    co_await w.here.sleep_for(milliseconds(20));
  all.done = true;
}

task<void> survive(world& w) {
  std::vector<std::unique_ptr<session>> sessions;
  for (int i = 0; i < 6; ++i) {
    auto opened = co_await w.open();
    sessions.push_back(std::move(opened));
  }
  crowd all;
  scope tasks{w.here};
  for (const auto& s : sessions)
    for (std::uint32_t client = 0; client < 2; ++client)
      tasks.spawn(come_and_go(w, *s, client, all));
  tasks.spawn(kill_the_leader(w, all));
  co_await tasks.join();
  ensemble().restart(all.killed);  // blocks this loop: with no call under way
  EXPECT_EQ(all.overlaps, 0);
  EXPECT_EQ(all.tokens_fell, 0);
  EXPECT_EQ(all.lost_holds, 0) << "sessions of 8 s outlive an election";
  EXPECT_GE(all.after_the_kill, 100) << "it did not go on";
  // Well below the 8 s after which the session's end would end the call.
  EXPECT_LT(all.longest_overrun, seconds(5)) << "a call outlasted its deadline";
  for (const auto& s : sessions) co_await s->close();
}

class leader_dies : public testing::TestWithParam<lock_kind (*)()> {};

// Sessions outlive the election, so no holder loses its lock.
TEST_P(leader_dies, the_lock_goes_on) {
  world w{GetParam()(), ensemble().target()};
  w.session_timeout = seconds(8);
  w.run(survive);
}

INSTANTIATE_TEST_SUITE_P(each_exclusive_lock, leader_dies,
                         testing::Values(sequential, semaphore_mutex, write, multi, ephemeral),
                         [](const auto& lock) {
                           const std::string name{lock.param().name};
                           return name.substr(name.find('/') + 1);
                         });

// One member of three is down: a run can be prepared, and the preflight reports it.
TEST(ensemble_without_a_member, is_told_of) {
  ensemble().kill("zookeeper-2", SIGKILL);
  world{sequential(), ensemble().target()}.run([](world& w) -> task<void> {
    demand load{.instances = 10, .clients = 1, .lease = {}, .session_timeout = seconds(4)};
    const auto found = co_await w.backend->preflight(w.here, load, w.in(seconds(5)));
    EXPECT_THAT(found, SizeIs(1));
    EXPECT_FALSE(found.at(0).fatal);
    EXPECT_THAT(found.at(0).sentence, HasSubstr("1 of 3 servers do not answer: 127.0.0.1:"));
  });
  ensemble().restart("zookeeper-2");
}

}  // namespace
}  // namespace lockmark::zookeeper

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  lockmark::zookeeper::ensemble();  // forks, so before any thread exists
  return RUN_ALL_TESTS();
}
