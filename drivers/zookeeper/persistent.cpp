// zookeeper/persistent: a lock that outlives its holder, wrong by design.
//
// One plain node: the client that creates it holds the lock, and deletes it to release. Nobody else
// ever deletes it, so a holder that dies, or an unanswered create or delete whose owner does not
// retry, blocks the key for ever. Kept to show what ephemeral nodes are for. It polls.
#include <map>

#include "drivers/zookeeper/driver.hpp"
#include "drivers/zookeeper/instance_session.hpp"
#include "drivers/zookeeper/nodes.hpp"
#include "drivers/zookeeper/zookeeper.hpp"

namespace lockmark::zookeeper {
namespace {

class persistent_session final : public instance_session {
 public:
  persistent_session(loop& l, const instance& who, session_setup setup)
      : instance_session(l, std::move(setup)), nodes_(l, tasks_, who.id) {}

  task<outcome<grant>> acquire(request r) override {
    const auto zk = co_await live_session(r.deadline);
    if (!zk) co_return refusal::unavailable;
    hold mine{nodes_.fresh_mark()};
    const reply created = co_await create(zk, r, mine.mark);
    if (created.ended == status::node_exists) co_return refusal::busy;
    if (created.ended == status::rejected || created.ended == status::no_rights)
      co_return refusal::unavailable;
    mine.granted.token = static_cast<std::uint64_t>(created.czxid);
    mine.certain = created.ok();
    const grant granted = mine.granted;
    holds_.insert_or_assign({r.key, r.client}, std::move(mine));
    if (created.ok()) co_return granted;
    co_return doubt_of(created);
  }

  task<outcome<grant>> renew(request r) override {
    const auto held = holds_.find({r.key, r.client});
    if (held == holds_.end() || !held->second.certain) co_return refusal::not_owner;
    co_return held->second.granted;
  }

  task<outcome<nothing>> release(request r) override {
    const owner_of_key who{r.key, r.client};
    if (!holds_.contains(who)) co_return refusal::not_owner;
    const auto zk = co_await live_session(r.deadline);
    if (!zk) co_return refusal::unavailable;
    const hold held = holds_.at(who);
    const reply removed = co_await remove(zk, r, held);
    if (removed.ok() || removed.ended == status::no_node) holds_.erase(who);
    if (removed.ok()) co_return nothing{};
    if (removed.ended == status::no_node) co_return refusal::not_owner;
    if (removed.ended == status::rejected || removed.ended == status::no_rights)
      co_return refusal::unavailable;
    holds_.at(who).certain = false;
    co_return doubt_of(removed);
  }

  // The server never frees the lock by itself.
  bool alive() const override { return true; }

 private:
  struct hold {
    std::string mark;  // the node's data
    grant granted{};
    bool certain = true;  // false: the node may exist, or belong to another client
  };
  using owner_of_key = std::pair<std::uint32_t, std::uint32_t>;  // request::key, request::client

  std::string path(const request& r) const { return path_of(r) + "/lock"; }

  task<reply> create(std::shared_ptr<handle> zk, request r, std::string mark) {
    const std::string node = path(r);
    const time_point deadline = limits(r).answer_by;
    reply created = co_await zk->create(node, mark, node_kind::persistent, deadline);
    if (created.ended == status::no_node) {
      co_await create_containers(zk, path_of(r), deadline);
      created = co_await zk->create(node, mark, node_kind::persistent, deadline);
    }
    co_return created;
  }

  // If the hold is not certain, reads the node first, so as not to delete another client's.
  task<reply> remove(std::shared_ptr<handle> zk, request r, hold held) {
    const std::string mine = path(r);
    const time_point deadline = limits(r).answer_by;
    if (!held.certain) {
      const node doubtful{zk, path_of(r), held.mark, true, mine};
      reply found = co_await node_maker::find(doubtful, deadline);
      if (!found.ok()) co_return found;
    }
    co_return co_await zk->remove(mine, deadline);
  }

  node_maker nodes_;
  std::map<owner_of_key, hold> holds_;
};

}  // namespace

lock_kind persistent() {
  return {
      .name = "zookeeper/persistent",
      .summary =
          "one plain node that nobody else deletes: if its holder dies, the key stays "
          "locked",
      .has = feature::fencing_token,
      .promises = safety::none,
      .topologies = all_topologies,
      .algorithm = "create and delete of a persistent node, the mistake before ephemeral nodes",
      .cost = {2, 2},
      .options = {},
      .make = make_driver_of<persistent_session>,
  };
}

}  // namespace lockmark::zookeeper
