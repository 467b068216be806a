// Everything that a test against a real server needs: a driver with its run prepared, a separate
// session to inspect the server, and the loop that both run on.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "drivers/zookeeper/handle.hpp"
#include "drivers/zookeeper/servers.hpp"
#include "drivers/zookeeper/zookeeper.hpp"
#include "harness/async/scope.hpp"

namespace lockmark::zookeeper {

using std::chrono::milliseconds;
using std::chrono::seconds;

class world {
 public:
  // Options that are not in `options` keep their presets.
  world(lock_kind lock, const std::string& target, std::uint32_t keys = 1,
        const option_values& options = {})
      : kind(std::move(lock)) {
    static int run = 0;
    setup_.target = target;
    setup_.run_names.run = fmt::format("case{}", ++run);
    for (std::uint32_t i = 0; i < keys; ++i)
      setup_.run_names.keys.push_back(fmt::format("key{}", i));
    for (const lock_option& o : kind.options)
      setup_.options.emplace(std::string{o.name}, std::string{o.preset});
    for (const auto& [name, value] : options) setup_.options.insert_or_assign(name, value);
    backend = kind.make(setup_);
  }

  time_point in(duration d) const { return here.now() + d; }

  // The node below which the lock of a key lives.
  std::string key_path(std::uint32_t key = 0) const {
    return fmt::format("{}/lockmark/{}/key{}", servers_at(setup_.target).chroot,
                       setup_.run_names.run, key);
  }

  request ask(duration patience, std::uint32_t client = 0, std::uint32_t key = 0) const {
    return {.key = key, .client = client, .lease = seconds(30), .deadline = in(patience)};
  }

  // Another driver of the same run, for another URL; empty: the same one.
  std::unique_ptr<driver> driver_for(const std::string& target) const {
    driver_setup through = setup_;
    if (!target.empty()) through.target = target;
    return kind.make(through);
  }

  task<std::unique_ptr<session>> open(std::string target = "") {
    instance who{.id = fmt::format("i{}", opened_),
                 .number = opened_,
                 .clients = 4,
                 .session_timeout = session_timeout};
    ++opened_;
    const auto other = driver_for(target);
    co_return co_await other->open(here, std::move(who), in(seconds(10)));
  }

  task<std::vector<std::string>> children_of(std::string path) {
    const reply r = co_await look->children(path, nullptr, in(seconds(5)));
    co_return r.names;
  }
  task<std::vector<std::string>> queue() { return children_of(key_path()); }

  // Waits until the queue has `size` nodes.
  task<bool> queue_of(std::size_t size) {
    const auto deadline = in(seconds(10));
    while (here.now() < deadline) {
      const auto nodes = co_await queue();
      if (nodes.size() == size) co_return true;
      co_await here.sleep_for(milliseconds(5));
    }
    co_return false;
  }

  // Runs `what` between prepare and wipe, and checks that nothing is left.
  void run(task<void> (*what)(world&)) { run_to_end(here, whole(what)); }

 private:
  task<void> whole(task<void> (*what)(world&)) {
    scope tasks{here};
    const servers where = servers_at(setup_.target);
    look = handle::open(here, tasks, {where.host_list(), seconds(10), where.login});
    std::exception_ptr failure;
    try {
      co_await backend->prepare(here, in(seconds(10)));
      co_await what(*this);
      co_await backend->wipe(here, in(seconds(10)));
      const std::string root = where.chroot + "/lockmark";
      // Its server may not have applied yet what another has answered.
      co_await look->sync(root, in(seconds(5)));
      const reply left = co_await look->exists(root, nullptr, in(seconds(5)));
      EXPECT_EQ(left.ended, status::no_node);
    } catch (...) {
      failure = std::current_exception();
    }
    look->close();
    co_await tasks.join();
    if (failure) std::rethrow_exception(failure);
  }

  real_clock time_;
  driver_setup setup_;
  std::uint32_t opened_ = 0;

 public:
  loop here{time_};
  duration session_timeout = seconds(3);  // longer than the stalls of a busy machine
  lock_kind kind;
  std::unique_ptr<driver> backend;
  std::shared_ptr<handle> look;
};

// The server that the tests of one program share; its main() starts it.
std::string& server_target();
std::uint16_t server_port();

// One acquire as a task, for a waiter that runs concurrently.
inline task<void> acquire_into(request r, session& s, outcome<grant>* result) {
  *result = co_await s.acquire(r);
}

}  // namespace lockmark::zookeeper
