// zookeeper/sequential: the ZooKeeper lock as it should be written, Curator's InterProcessMutex.
// zookeeper/read and zookeeper/write: the two halves of its InterProcessReadWriteLock.
//
// A queue of ephemeral sequential nodes. The lowest one holds the mutex; each of the others watches
// the node just before it, so that a release wakes one waiter only.
//
// Readers (__READ__) and writers (__WRIT__) share one queue. A writer waits for the node before it;
// a reader for the first writer before it, so that the end of a writer wakes all readers behind it.
// Downgrading (a writer that also takes the read lock) is left out: a client has one of the halves.
//
// All three are reentrant.
#include "drivers/zookeeper/driver.hpp"
#include "drivers/zookeeper/node_session.hpp"
#include "drivers/zookeeper/zookeeper.hpp"

namespace lockmark::zookeeper {
namespace {

template <const queue_kind& queue>
class queue_session final : public node_session {
 public:
  using node_session::node_session;

 private:
  bool reentrant() const override { return true; }

  task<outcome<grant>> take(std::shared_ptr<handle> zk, request r,
                            std::vector<node>& taken) override {
    taken.push_back(nodes_.plan(zk, path_of(r)));
    co_return co_await enter(queue, taken.back(), limits(r));
  }
};

}  // namespace

lock_kind sequential() {
  return {
      .name = "zookeeper/sequential",
      .summary = "a queue of ephemeral sequential nodes, each watching the one before it",
      .has = feature::fencing_token | feature::session_bound | feature::session_timeout |
             feature::server_wait | feature::fair | feature::reentrant,
      .promises = safety::session,
      .topologies = all_topologies,
      .algorithm = "Curator 5.4, InterProcessMutex",
      .cost = {3, 3},
      .options = {},
      .make = make_driver_of<queue_session<mutex_queue>>,
  };
}

lock_kind read() {
  return {
      .name = "zookeeper/read",
      .summary = "the shared half of a read-write lock: waits for the first writer before it",
      .has = feature::session_bound | feature::session_timeout | feature::server_wait |
             feature::fair | feature::reentrant | feature::shared,
      .promises = safety::session,
      .topologies = all_topologies,
      .algorithm = "Curator 5.4, InterProcessReadWriteLock.readLock",
      .cost = {3, 3},
      .options = {},
      .make = make_driver_of<queue_session<reader_queue>>,
      .holders = [](const option_values&) -> std::uint32_t { return 0; },
  };
}

lock_kind write() {
  return {
      .name = "zookeeper/write",
      .summary = "the exclusive half of a read-write lock: waits for the node before it",
      .has = feature::fencing_token | feature::session_bound | feature::session_timeout |
             feature::server_wait | feature::fair | feature::reentrant,
      .promises = safety::session,
      .topologies = all_topologies,
      .algorithm = "Curator 5.4, InterProcessReadWriteLock.writeLock",
      .cost = {3, 3},
      .options = {},
      .make = make_driver_of<queue_session<writer_queue>>,
      .readers = "zookeeper/read",
  };
}

}  // namespace lockmark::zookeeper
