// prepare() against a real server that hangs up, loses connections, or is shared with other runs.
#include <gtest/gtest.h>

#include "drivers/conformance/proxy.hpp"
#include "drivers/zookeeper/test_world.hpp"

namespace lockmark::zookeeper {
namespace {

using conformance::proxy;
using conformance::proxy_mode;

// A chroot that does not exist is created, and stays.
TEST(driver, creates_the_chroot) {
  world{sequential(), server_target() + "/some/where"}.run([](world& w) -> task<void> {
    const std::string root = "/some/where/lockmark";
    const reply found = co_await w.look->exists(root, nullptr, w.in(seconds(5)));
    EXPECT_TRUE(found.ok());
  });
}

task<void> come_and_go(driver& d, loop& l, int times) {
  for (int i = 0; i < times; ++i) {
    co_await d.prepare(l, l.now() + seconds(10));
    co_await d.wipe(l, l.now() + seconds(10));
  }
}

// Overlapping runs: a run that ends removes the root that the next one is about to use.
TEST(driver, runs_come_and_go_side_by_side) {
  world{sequential(), server_target()}.run([](world& w) -> task<void> {
    co_await w.backend->wipe(w.here, w.in(seconds(5)));
    std::vector<std::unique_ptr<driver>> runs;
    scope tasks{w.here};
    for (const char* run : {"a", "b", "c"}) {
      const driver_setup setup{.target = server_target(), .run_names = {run, {"k"}}, .options = {}};
      runs.push_back(w.kind.make(setup));
      tasks.spawn(come_and_go(*runs.back(), w.here, 20));
    }
    co_await tasks.join();
  });
}

// Removes the node at the first moment at which it is there and empty, if there is one in time.
task<void> remove_once(world& w, std::string path, int& removed) {
  const time_point deadline = w.in(milliseconds(300));
  while (w.here.now() < deadline) {
    if (!(co_await w.look->remove(path, deadline)).ok()) continue;
    ++removed;
    break;
  }
}

task<void> prepare(world& w) {
  co_await w.backend->prepare(w.here, w.in(seconds(20)));
}

// A server removes an empty container that it knew before a wipe, also if it was made anew since.
TEST(driver, prepares_again_what_is_removed_meanwhile) {
  constexpr std::uint32_t keys = 500;
  world{semaphore_mutex(), server_target(), keys}.run([](world& w) -> task<void> {
    int removed = 0;
    for (int round = 0; round < 100 && removed < 5; ++round) {
      co_await w.backend->wipe(w.here, w.in(seconds(20)));
      scope tasks{w.here};
      tasks.spawn(remove_once(w, w.key_path(), removed));
      tasks.spawn(prepare(w));
      co_await tasks.join();
      const std::string below = w.key_path() + "/locks";
      EXPECT_TRUE((co_await w.look->exists(below, nullptr, w.in(seconds(5)))).ok());
    }
    EXPECT_GT(removed, 0);
  });
}

// Breaks all connections as soon as the first key of the run is there, and lets new ones pass.
task<void> break_once(world& w, proxy& between, bool& broken) {
  const time_point deadline = w.in(seconds(20));
  while (!broken && w.here.now() < deadline)
    broken = (co_await w.look->exists(w.key_path(), nullptr, deadline)).ok();
  between.set(proxy_mode::cut);
  between.set(proxy_mode::pass);
}

task<void> prepare_through(world& w, driver& through, std::string& refused) {
  try {
    co_await through.prepare(w.here, w.in(seconds(20)));
  } catch (const lockmark::no_server& e) {
    refused = e.what();
  }
}

// What a broken connection has left undone is done over the next one.
TEST(driver, goes_on_with_another_connection) {
  constexpr std::uint32_t keys = 5000;  // far more than the server makes while the test looks
  world{sequential(), server_target(), keys}.run([](world& w) -> task<void> {
    proxy between{"127.0.0.1", server_port()};
    const auto through = w.driver_for("zookeeper://" + between.address());
    co_await w.backend->wipe(w.here, w.in(seconds(20)));
    bool broken = false;
    std::string refused;
    scope tasks{w.here};
    tasks.spawn(break_once(w, between, broken));
    tasks.spawn(prepare_through(w, *through, refused));
    co_await tasks.join();
    EXPECT_TRUE(broken);
    EXPECT_EQ(refused, "");
    const std::string last = w.key_path(keys - 1);
    EXPECT_TRUE((co_await w.look->exists(last, nullptr, w.in(seconds(5)))).ok());
  });
}

task<void> pass_after_one_answer_each(loop& l, conformance::proxies& between) {
  for (const std::size_t which : {0U, 1U}) {
    while (between.mode(which) != proxy_mode::cut) co_await l.sleep_for(milliseconds(1));
  }
  between.set(proxy_mode::pass);
}

// Servers that hang up, as they do shortly before they elect a leader, are asked again.
TEST(driver, asks_an_ensemble_again_that_hangs_up) {
  world{sequential(), server_target()}.run([](world& w) -> task<void> {
    const config::host_port real{"127.0.0.1", server_port()};
    conformance::proxies between{{real, real}};
    for (const std::size_t which : {0U, 1U}) between.set(which, proxy_mode::drop_replies);
    const auto both = w.driver_for("zookeeper://" + config::to_string(between.address(0)) + ',' +
                                   config::to_string(between.address(1)));
    scope tasks{w.here};
    tasks.spawn(pass_after_one_answer_each(w.here, between));
    std::string refused;
    try {
      co_await both->prepare(w.here, w.in(seconds(10)));
    } catch (const lockmark::no_server& e) {
      refused = e.what();
    }
    co_await tasks.join();
    EXPECT_EQ(refused, "");
  });
}

// Without a listener prepare() soon fails with one sentence that names the address.
TEST(driver, no_server) {
  real_clock time;
  loop here{time};
  driver_setup setup{.target = "zookeeper://127.0.0.1:1", .run_names = {"x", {"k"}}, .options = {}};
  const auto backend = sequential().make(setup);
  try {
    run_to_end(here, [](driver* d, loop* l) -> task<void> {
      co_await d->prepare(*l, l->now() + seconds(5));
    }(backend.get(), &here));
    FAIL() << "prepared without a server";
  } catch (const lockmark::no_server& e) {
    EXPECT_STREQ(e.what(), "zookeeper://127.0.0.1:1: Connection refused");
  }
}

}  // namespace
}  // namespace lockmark::zookeeper
