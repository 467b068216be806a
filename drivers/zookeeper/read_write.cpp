// zookeeper/read and zookeeper/write: the two halves of Curator's InterProcessReadWriteLock.
//
// Readers (__READ__) and writers (__WRIT__) share one queue of ephemeral sequential nodes. A writer
// waits for the node before it; a reader for the first writer before it, so that the end of a
// writer wakes all readers behind it. Either half is reentrant. Downgrading (a writer that also
// takes the read lock) is left out: a client has one of the halves.
#include "drivers/zookeeper/driver.hpp"
#include "drivers/zookeeper/node_session.hpp"
#include "drivers/zookeeper/queue.hpp"
#include "drivers/zookeeper/zookeeper.hpp"

namespace lockmark::zookeeper {
namespace {

template <const queue_kind& half>
class half_session final : public node_session {
 public:
  using node_session::node_session;

 private:
  bool reentrant() const override { return true; }

  task<outcome<grant>> take(std::shared_ptr<handle> zk, request r,
                            std::vector<node>& taken) override {
    taken.push_back(nodes_.plan(zk, path_of(r)));
    co_return co_await queue_.enter(taken.back(), limits(r));
  }

  node_queue queue_{loop_, nodes_, half};
};

}  // namespace

lock_kind read() {
  return {
      .name = "zookeeper/read",
      .summary = "the shared half of a read-write lock: waits for the first writer before it",
      .has = feature::session_bound | feature::session_timeout | feature::server_wait |
             feature::fair | feature::reentrant | feature::shared,
      .promises = safety::session,
      .topologies = all_topologies,
      .algorithm = "Curator 5.4, InterProcessReadWriteLock.readLock",
      .options = {},
      .make =
          [](const driver_setup& s) {
            return make_driver(s, {open_session<half_session<reader_queue>>});
          },
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
      .options = {},
      .make =
          [](const driver_setup& s) {
            return make_driver(s, {open_session<half_session<writer_queue>>});
          },
  };
}

}  // namespace lockmark::zookeeper
