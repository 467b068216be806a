// zookeeper/sequential: the ZooKeeper lock as it should be written, Curator's InterProcessMutex.
//
// A queue of ephemeral sequential nodes. The lowest one holds the lock; each of the others watches
// the node just before it, so that a release wakes one waiter only.
#include "drivers/zookeeper/driver.hpp"
#include "drivers/zookeeper/node_session.hpp"
#include "drivers/zookeeper/queue.hpp"
#include "drivers/zookeeper/zookeeper.hpp"

namespace lockmark::zookeeper {
namespace {

class sequential_session final : public node_session {
 public:
  using node_session::node_session;

 private:
  bool reentrant() const override { return true; }

  task<outcome<grant>> take(std::shared_ptr<handle> zk, request r,
                            std::vector<node>& taken) override {
    taken.push_back(nodes_.plan(zk, path_of(r)));
    co_return co_await queue_.enter(taken.back(), limits(r));
  }

  node_queue queue_{loop_, nodes_, mutex_queue};
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
      .options = {},
      .make =
          [](const driver_setup& s) { return make_driver(s, {open_session<sequential_session>}); },
  };
}

}  // namespace lockmark::zookeeper
