// Everything that a test against a real server needs: a driver with its run prepared, a connection
// of its own to look at the server, and the loop that both run on.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "drivers/etcd/channel.hpp"
#include "drivers/etcd/etcd.hpp"
#include "drivers/etcd/messages.hpp"
#include "drivers/etcd/paths.hpp"
#include "harness/async/scope.hpp"

namespace lockmark::etcd {

using std::chrono::milliseconds;
using std::chrono::seconds;

class world {
 public:
  // Options that are not in `options` keep their presets.
  world(lock_kind lock, const std::string& target, std::uint32_t keys = 1,
        const option_values& options = {})
      : where_(servers_at(target)), kind(std::move(lock)) {
    static int run = 0;
    setup_.target = target;
    setup_.run_names.run = fmt::format("case{}", ++run);
    for (std::uint32_t i = 0; i < keys; ++i) {
      setup_.run_names.keys.push_back(fmt::format("key{}", i));
    }
    for (const lock_option& o : kind.options) {
      setup_.options.emplace(std::string{o.name}, std::string{o.preset});
    }
    for (const auto& [name, value] : options) setup_.options.insert_or_assign(name, value);
    backend = kind.make(setup_);
  }

  time_point in(duration d) const { return here.now() + d; }

  // The lock's name on the server.
  std::string name_of(std::uint32_t key = 0) const {
    return fmt::format("lockmark/{}/key{}", setup_.run_names.run, key);
  }

  request ask(duration patience, std::uint32_t client = 0, std::uint32_t key = 0) const {
    return {.key = key,
            .client = client,
            .lease = seconds(30),
            .deadline = in(patience),
            .grace = seconds(1)};
  }

  // Another driver of the same run, for another URL; empty: the same one.
  std::unique_ptr<driver> driver_for(const std::string& target) const {
    driver_setup through = setup_;
    if (!target.empty()) through.target = target;
    return kind.make(through);
  }

  task<std::unique_ptr<session>> open(std::string target = "", std::uint32_t clients = 4) {
    instance who{.id = fmt::format("i{}", opened_),
                 .number = opened_,
                 .clients = clients,
                 .session_timeout = session_timeout};
    ++opened_;
    const auto other = driver_for(target);
    co_return co_await other->open(here, std::move(who), in(seconds(10)));
  }

  // The number of keys of a lock's queue; -1: not known.
  task<std::int64_t> queue(std::uint32_t key = 0) {
    const answer said =
        co_await look->call(range_path, count_request(name_of(key) + '/'), in(seconds(20)));
    if (!said.ok()) co_return -1;
    co_return read_found(said.body)->count;
  }

  // The youngest key of a lock's queue; nothing in it: empty.
  task<found> youngest(std::uint32_t key = 0) {
    constexpr revision any = 1'000'000'000;
    const std::string question = last_created_request(name_of(key) + '/', any);
    const answer said = co_await look->call(range_path, question, in(seconds(20)));
    found none;
    if (!said.ok()) co_return none;
    co_return *read_found(said.body);
  }

  // Waits until the queue has `size` keys.
  task<bool> queue_of(std::int64_t size, std::uint32_t key = 0) {
    const auto deadline = in(seconds(15));
    while (here.now() < deadline) {
      const std::int64_t now = co_await queue(key);
      if (now == size) co_return true;
      co_await here.sleep_for(milliseconds(5));
    }
    co_return false;
  }

  // Runs `what` between prepare and wipe, and checks that nothing is left.
  void run(task<void> (*what)(world&)) { run_to_end(here, whole(what)); }

 private:
  task<void> whole(task<void> (*what)(world&)) {
    scope tasks{here};
    look = channel::open(here, tasks, where_, 0, uncounted_);
    std::exception_ptr failure;
    try {
      co_await backend->prepare(here, in(seconds(10)));
      co_await what(*this);
      co_await backend->wipe(here, in(seconds(10)));
      for (std::uint32_t key = 0; key < setup_.run_names.keys.size(); ++key) {
        const std::int64_t left = co_await queue(key);
        EXPECT_EQ(left, 0);
      }
    } catch (...) {
      failure = std::current_exception();
    }
    look->close();
    co_await tasks.join();
    if (failure) std::rethrow_exception(failure);
  }

  real_clock time_;
  driver_setup setup_;
  const servers where_;
  traffic uncounted_;
  std::uint32_t opened_ = 0;

 public:
  loop here{time_};
  duration session_timeout = seconds(4);  // longer than the stalls of a busy machine
  lock_kind kind;
  std::unique_ptr<driver> backend;
  std::shared_ptr<channel> look;
};

// One acquire as a task, for a waiter that runs concurrently.
inline task<void> acquire_into(request r, session& s, outcome<grant>* result) {
  *result = co_await s.acquire(r);
}

}  // namespace lockmark::etcd
