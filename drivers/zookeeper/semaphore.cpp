// zookeeper/semaphore and zookeeper/semaphore_mutex: Curator's InterProcessSemaphoreV2, and
// InterProcessSemaphoreMutex, which is the same with one lease.
//
// A lease is a node in <key>/leases. A client first takes the mutex of <key>/locks, adds its node,
// and watches the leases' parent while there are too many; so a released lease wakes one waiter
// only, and leases are granted in the order of the mutex. A watch that has not fired is removed.
// Not reentrant: a holder that acquires again acquires another lease.
#include <algorithm>

#include "drivers/zookeeper/driver.hpp"
#include "drivers/zookeeper/node_session.hpp"
#include "drivers/zookeeper/zookeeper.hpp"

namespace lockmark::zookeeper {
namespace {

constexpr std::string_view lease_name = "lease-";

class semaphore_session final : public node_session {
 public:
  semaphore_session(loop& l, const instance& who, session_setup setup)
      : node_session(l, who, setup), leases_(count_of(setup.options, "leases")) {}

 private:
  task<outcome<grant>> take(std::shared_ptr<handle> zk, request r,
                            std::vector<node>& taken) override {
    const limits until(r);
    node turn = nodes_.plan(zk, path_of(r) + "/locks");
    const auto entered = co_await enter(mutex_queue, turn, until);
    if (!entered.done()) co_return entered;

    node lease = nodes_.plan(zk, path_of(r) + "/leases");
    const auto created = co_await nodes_.create(lease, lease_name, until);
    if (!created.done()) {
      co_await nodes_.release(std::move(turn), until);
      co_return created.without_value<grant>();
    }
    const auto free = co_await wait_for_lease(lease, until);
    if (!free.done()) {
      std::vector<node> both{std::move(lease), std::move(turn)};
      co_return co_await nodes_.give_up(std::move(both), free.why_refused(), until);
    }
    co_await nodes_.release(std::move(turn), until);
    taken.push_back(std::move(lease));
    co_return grant{static_cast<std::uint64_t>(taken.back().czxid)};
  }

  // Never in doubt: done, or the reason to give up. Awaited at once by the owner of `mine`.
  task<outcome<nothing>> wait_for_lease(const node& mine, limits until) {
    while (true) {
      const auto watch = std::make_shared<node_watch>(loop_);
      const reply leases = co_await mine.zk->children(mine.parent, watch, until.answer_by);
      const bool deleted = leases.ended == status::no_node;
      if (deleted || leases.ended == status::rejected || leases.ended == status::no_rights)
        co_return refusal::unavailable;
      if (leases.ok()) {
        if (std::ranges::find(leases.names, base_name(mine.path)) == leases.names.end())
          co_return refusal::unavailable;  // the node was deleted
        if (leases.names.size() <= leases_) {
          mine.zk->forget(mine.parent, watch);
          co_return nothing{};
        }
        co_await watch->fired.wait_until(until.wait_until);
      }
      const bool connected = co_await mine.zk->connected_by(until.wait_until);
      if (mine.zk->over() || !connected) co_return refusal::unavailable;
      if (loop_.now() < until.wait_until) continue;
      mine.zk->forget(mine.parent, watch);
      co_return refusal::deadline;
    }
  }

  const std::uint32_t leases_;
};

std::vector<std::string> semaphore_nodes(const option_values&) {
  return {"locks", "leases"};
}

constexpr auto make_semaphore = make_driver_of<semaphore_session, semaphore_nodes>;

}  // namespace

lock_kind semaphore() {
  return {
      .name = "zookeeper/semaphore",
      .summary = "a number of leases, handed out under a mutex; watches on the leases' parent",
      .has = feature::session_bound | feature::session_timeout | feature::server_wait |
             feature::fair | feature::shared,
      .promises = safety::session,
      .topologies = all_topologies,
      .algorithm = "Curator 5.4, InterProcessSemaphoreV2",
      .cost = {7, 6},
      .options = {count_option("leases", "3", "how many may hold a key at once")},
      .make = make_semaphore,
      .holders = [](const option_values& o) { return count_of(o, "leases"); },
  };
}

lock_kind semaphore_mutex() {
  return {
      .name = "zookeeper/semaphore_mutex",
      .summary = "a semaphore with one lease: a mutex that is not reentrant",
      .has = feature::fencing_token | feature::session_bound | feature::session_timeout |
             feature::server_wait | feature::fair,
      .promises = safety::session,
      .topologies = all_topologies,
      .algorithm = "Curator 5.4, InterProcessSemaphoreMutex",
      .cost = {7, 6},
      .options = {},
      .make = make_semaphore,
  };
}

}  // namespace lockmark::zookeeper
