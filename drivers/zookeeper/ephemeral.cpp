// zookeeper/ephemeral: the first lock that everybody writes.
//
// One ephemeral node; the client that creates it holds the lock. All others watch it with exists(),
// and its deletion wakes them all to try again at once: a herd, without any fairness.
#include "drivers/zookeeper/driver.hpp"
#include "drivers/zookeeper/node_session.hpp"
#include "drivers/zookeeper/zookeeper.hpp"

namespace lockmark::zookeeper {
namespace {

class ephemeral_session final : public node_session {
 public:
  using node_session::node_session;

 private:
  task<outcome<grant>> take(std::shared_ptr<handle> zk, request r,
                            std::vector<node>& taken) override {
    const limits until(r);
    node mine = nodes_.plan_shared(zk, path_of(r), "lock");
    while (true) {
      const auto created = co_await nodes_.create(mine, "", until);
      if (created.done()) {
        taken.push_back(std::move(mine));
        co_return grant{static_cast<std::uint64_t>(taken.back().czxid)};
      }
      if (!created.refused(refusal::busy)) co_return created.without_value<grant>();
      co_await wait_for_change(zk, mine.path, &handle::exists, until);
      const bool connected = co_await zk->connected_by(until.wait_until);
      if (zk->over() || !connected) co_return refusal::unavailable;
      if (loop_.now() >= until.wait_until) co_return refusal::deadline;
    }
  }
};

}  // namespace

lock_kind ephemeral() {
  return {
      .name = "zookeeper/ephemeral",
      .summary = "one ephemeral node, watched by all who wait: each release wakes the whole herd",
      .has = feature::fencing_token | feature::session_bound | feature::session_timeout |
             feature::server_wait,
      .promises = safety::session,
      .topologies = all_topologies,
      .algorithm = "one ephemeral node and exists watches, as in ZooKeeper tutorials",
      .cost = {2, 2},
      .options = {},
      .make = make_driver_of<ephemeral_session>,
  };
}

}  // namespace lockmark::zookeeper
