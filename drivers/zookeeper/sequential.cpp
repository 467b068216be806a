// zookeeper/sequential: the ZooKeeper lock as it should be written, Curator's InterProcessMutex.
// zookeeper/read and zookeeper/write: the two halves of its InterProcessReadWriteLock.
//
// A queue of ephemeral sequential nodes. The lowest one holds the mutex; each of the others watches
// the node just before it, so that a release wakes one waiter only. Curator sets that watch by
// getData; `watch=exists`, which is often seen, sets it by exists: if the node has gone meanwhile,
// the server keeps a watch for a node that never comes.
//
// Readers (__READ__) and writers (__WRIT__) share one queue. A writer waits for the node before it;
// a reader for the first writer before it, so that the end of a writer wakes all readers behind it.
//
// A writer may downgrade: it takes the read lock, which it is given at once, and then gives up the
// write lock. With `hold=downgraded` each grant is such a read lock, under which readers come in,
// and writers do not: its node has the number of the writer's. Up to Curator 5.4 it had the next
// number, behind the writers that waited, and the first of those was granted (CURATOR-621):
// `hold=downgraded_5.4`.
//
// create __WRIT__, getChildren; create __READ__, getChildren, delete __WRIT__; delete __READ__
//
// All three are reentrant.
#include <optional>

#include "drivers/zookeeper/driver.hpp"
#include "drivers/zookeeper/node_session.hpp"
#include "drivers/zookeeper/zookeeper.hpp"

namespace lockmark::zookeeper {
namespace {

enum class held_as : std::uint8_t { taken, downgraded, downgraded_behind_others };

std::optional<held_as> held_as_of(std::string_view value) {
  if (value == "write") return held_as::taken;
  if (value == "downgraded") return held_as::downgraded;
  if (value == "downgraded_5.4") return held_as::downgraded_behind_others;
  return std::nullopt;
}

held_as held_as_in(const option_values& options) {
  const auto chosen = options.find("hold");
  return chosen == options.end() ? held_as::taken : held_as_of(chosen->second).value();
}

bool is_watch(std::string_view value) {
  return value == "data" || value == "exists";
}

bool watches_by_exists(const option_values& options) {
  const auto chosen = options.find("watch");
  return chosen != options.end() && chosen->second == "exists";
}

template <const queue_kind& queue>
class queue_session final : public node_session {
 public:
  queue_session(loop& l, const instance& who, session_setup setup)
      : node_session(l, who, setup),
        watch_(watches_by_exists(setup.options) ? &handle::exists : &handle::get) {}

 private:
  bool reentrant() const override { return true; }

  task<outcome<grant>> take(std::shared_ptr<handle> zk, request r,
                            std::vector<node>& taken) override {
    taken.push_back(nodes_.plan(zk, path_of(r)));
    co_return co_await enter(queue, taken.back(), limits(r), watch_);
  }

  const reading watch_;
};

class writer_session final : public node_session {
 public:
  writer_session(loop& l, const instance& who, session_setup setup)
      : node_session(l, who, setup), held_as_(held_as_in(setup.options)) {}

 private:
  bool reentrant() const override { return true; }

  task<outcome<grant>> take(std::shared_ptr<handle> zk, request r,
                            std::vector<node>& taken) override {
    taken.push_back(nodes_.plan(zk, path_of(r)));
    const auto entered = co_await enter(writer_queue, taken.back(), limits(r));
    if (!entered.done() || held_as_ == held_as::taken) co_return entered;
    const auto changed = co_await downgrade(taken, limits(r));
    if (!changed.done()) co_return changed.without_value<grant>();
    co_return entered;
  }

  // `held` is the writer's node before, and the reader's after. Awaited at once by its owner.
  task<outcome<nothing>> downgrade(std::vector<node>& held, limits until) {
    if (loop_.now() >= until.wait_until) {
      co_return co_await give_up_all(held, refusal::deadline, until);
    }
    node reader = nodes_.plan(held[0].zk, held[0].parent);
    if (held_as_ == held_as::downgraded) reader.sequence = number_in(held[0].path);
    const auto created = co_await nodes_.create(reader, reader_queue.lock_name, until);
    if (!created.done()) {
      const auto undone = co_await give_up_all(held, refusal::unavailable, until);
      if (created.in_doubt()) co_return created;
      co_return undone;
    }
    held.push_back(std::move(reader));
    // Curator looks at the queue, and then goes by what it knows: the writer is its own.
    const reply seen = co_await held[1].zk->children(held[1].parent, nullptr, until.answer_by);
    if (!seen.ok()) co_return co_await give_up_all(held, refusal::unavailable, until);
    if (loop_.now() >= until.wait_until) {
      co_return co_await give_up_all(held, refusal::deadline, until);
    }
    node writer = std::move(held[0]);
    held.erase(held.begin());
    const auto left = co_await nodes_.release(std::move(writer), until);
    // In doubt, the writer's node is removed later, and keeps others out until then.
    if (!left.refused()) co_return nothing{};
    co_return co_await give_up_all(held, refusal::unavailable, until);
  }

  task<outcome<nothing>> give_up_all(std::vector<node>& held, refusal why, limits until) {
    std::vector<node> all = std::move(held);
    held.clear();
    const auto given_up = co_await nodes_.give_up(std::move(all), why, until);
    co_return given_up.without_value<nothing>();
  }

  const held_as held_as_;
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
      .options = {{.name = "watch",
                   .values = "data, exists",
                   .preset = "data",
                   .help = "how a waiter watches the node before its own: by getData, as Curator; "
                           "or by exists, which leaves a watch behind if that node has just gone",
                   .accepts = is_watch}},
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
      .options = {{.name = "hold",
                   .values = "write, downgraded, downgraded_5.4",
                   .preset = "write",
                   .help =
                       "what is held: the write lock; or the read lock to which it was "
                       "downgraded, which keeps writers out and lets readers in; or the same as "
                       "up to Curator 5.4, which lets the next writer in",
                   .accepts = [](std::string_view v) { return held_as_of(v).has_value(); }}},
      .make = make_driver_of<writer_session>,
      .readers = "zookeeper/read",
  };
}

}  // namespace lockmark::zookeeper
