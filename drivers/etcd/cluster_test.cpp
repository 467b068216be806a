// A member of a cluster dies during a run: calls keep their deadlines, the lock stays usable, and
// there are never two holders.
#include "deploy/local/cluster.hpp"

#include <gmock/gmock.h>

#include <csignal>

#include "deploy/local/roles.hpp"
#include "drivers/etcd/test_world.hpp"

namespace lockmark::etcd {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

local::cluster& members() {
  static local::cluster three = local::cluster::start("etcd-3");
  return three;
}

std::string leader() {
  const auto all = local::leaders(members().info());
  return all.empty() ? "" : all.front();
}

// The state shared by the clients of one key.
struct crowd {
  int inside = 0;
  int overlaps = 0;
  int granted = 0;
  int after_the_kill = 0;
  int lost_holds = 0;
  std::string killed{};
  bool done = false;
  std::uint64_t last_token = 0;
  int tokens_fell = 0;
  duration longest_overrun{};
};

request ask(const world& w, std::uint32_t client) {
  request r = w.ask(milliseconds(1500), client);
  r.grace = milliseconds(700);
  return r;
}

void keep_time(const world& w, const request& r, crowd& all) {
  all.longest_overrun = std::max(all.longest_overrun, w.here.now() - r.answer_by());
}

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
  while (all.granted < 30 && w.here.now() < warm) co_await w.here.sleep_for(milliseconds(20));
  const std::string first = leader();
  EXPECT_NE(first, "");
  members().kill(first, SIGKILL);
  all.killed = first;
  const time_point end = w.in(seconds(40));
  while (all.after_the_kill < 60 && w.here.now() < end) {
    co_await w.here.sleep_for(milliseconds(20));
  }
  all.done = true;
}

task<void> survive(world& w) {
  std::vector<std::unique_ptr<session>> sessions;
  for (int i = 0; i < 6; ++i) {
    auto opened = co_await w.open("", 2);
    sessions.push_back(std::move(opened));
  }
  crowd all;
  scope tasks{w.here};
  for (const auto& s : sessions) {
    for (std::uint32_t client = 0; client < 2; ++client) {
      tasks.spawn(come_and_go(w, *s, client, all));
    }
  }
  tasks.spawn(kill_the_leader(w, all));
  co_await tasks.join();
  members().restart(all.killed);  // blocks this loop: with no call under way
  EXPECT_EQ(all.overlaps, 0);
  EXPECT_EQ(all.tokens_fell, 0);
  EXPECT_EQ(all.lost_holds, 0) << "leases of 20 s outlive an election";
  EXPECT_GE(all.after_the_kill, 60) << "it did not go on";
  EXPECT_LT(all.longest_overrun, seconds(5)) << "a call outlasted its deadline";
  for (const auto& s : sessions) co_await s->close();
}

class leader_dies : public testing::TestWithParam<lock_kind (*)()> {};

// Leases outlive the election, so no holder loses its lock.
TEST_P(leader_dies, the_lock_goes_on) {
  world w{GetParam()(), members().target()};
  w.session_timeout = seconds(20);
  w.run(survive);
}

INSTANTIATE_TEST_SUITE_P(each_exclusive_lock, leader_dies, testing::Values(mutex, lock_service, rw),
                         [](const auto& lock) {
                           const std::string name{lock.param().name};
                           return name.substr(name.find('/') + 1);
                         });

// What a run cannot do without is asked again until there is another leader.
TEST(run_whose_leader_dies, is_wiped) {
  static std::string killed;
  world{mutex(), members().target()}.run([](world& w) -> task<void> {
    killed = leader();
    members().kill(killed, SIGKILL);
    co_await w.backend->wipe(w.here, w.in(seconds(30)));
  });
  members().restart(killed);
}

// One member of three is down: a run can be prepared, and the preflight reports it.
TEST(cluster_without_a_member, is_told_of) {
  members().kill("etcd-2", SIGKILL);
  world{mutex(), members().target()}.run([](world& w) -> task<void> {
    demand load{.instances = 10, .clients = 1, .lease = {}, .session_timeout = seconds(4)};
    const auto found_here = co_await w.backend->preflight(w.here, load, w.in(seconds(5)));
    EXPECT_THAT(found_here, SizeIs(1));
    EXPECT_FALSE(found_here.at(0).fatal);
    EXPECT_THAT(found_here.at(0).sentence, HasSubstr("1 of 3 servers do not answer: 127.0.0.1:"));
  });
  members().restart("etcd-2");
}

// Without a majority there is a sentence, not a hang.
TEST(cluster_without_a_majority, grants_nothing) {
  members().kill("etcd-1", SIGKILL);
  members().kill("etcd-2", SIGKILL);
  const real_clock clock;
  loop here{clock};
  const driver_setup setup{.target = members().target(), .run_names = {"x", {"k"}}, .options = {}};
  const auto backend = mutex().make(setup);
  std::string sentence;
  const time_point start = here.now();
  run_to_end(here, [](driver* d, loop* l, std::string* into) -> task<void> {
    try {
      co_await d->prepare(*l, l->now() + seconds(5));
    } catch (const no_server& e) {
      *into = e.what();
    }
  }(backend.get(), &here, &sentence));
  EXPECT_LT(here.now() - start, seconds(10));
  EXPECT_THAT(sentence, HasSubstr("etcd://127.0.0.1:"));
  members().revive("etcd-1");
  members().restart("etcd-2");
}

}  // namespace
}  // namespace lockmark::etcd

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  lockmark::etcd::members();  // forks, so before any thread exists
  return RUN_ALL_TESTS();
}
