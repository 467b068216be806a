#include "drivers/zookeeper/sequential.hpp"

#include <algorithm>
#include <functional>
#include <random>

namespace lockmark::zookeeper {
namespace {

// How long an attempt waits past its deadline for an answer that is due, and for the server to
// confirm that its node is gone: the "one round trip" of the contract. Without them it ends in
// doubt.
constexpr duration one_round_trip = std::chrono::milliseconds(700);

// Pause and patience of the background deletion.
constexpr duration sweep_pause = std::chrono::milliseconds(100);
constexpr duration sweep_patience = std::chrono::seconds(5);

std::uint64_t seed_of(const std::string& id) {
  std::random_device entropy;
  return std::hash<std::string>{}(id) ^ (std::uint64_t{entropy()} << 32U) ^ entropy();
}

time_point last_answer(const request& r) {
  return std::max(r.answer_by(), r.deadline + one_round_trip);
}

doubt doubt_of(status s) {
  return s == status::silent ? doubt::deadline : doubt::connection_lost;
}

}  // namespace

sequential::sequential(loop& l, const instance& who, handle_settings where,
                       std::vector<std::string> key_paths)
    : loop_(l),
      where_(std::move(where)),
      key_paths_(std::move(key_paths)),
      uuids_(seed_of(who.id)),
      tasks_(l),
      zk_(handle::open(l, tasks_, where_)) {}

task<bool> sequential::connect(time_point deadline) {
  co_return co_await zk_->connected_by(deadline);
}

// The lock ------------------------------------------------------------------------------------

task<outcome<grant>> sequential::acquire(request r) {
  const auto zk = co_await live_session(r.deadline);
  if (!zk) co_return refusal::unavailable;
  if (hold* again = find_hold(r)) {
    ++again->depth;
    co_return grant{static_cast<std::uint64_t>(again->held.czxid)};
  }

  node mine{zk, key_paths_.at(r.key), protection_prefix(uuids_.next()), "", 0};
  const reply created = co_await create(mine, last_answer(r));
  if (created.ended == status::session_over || created.ended == status::rejected)
    co_return refusal::unavailable;
  if (!created.ok()) {
    delete_later(mine);
    co_return doubt_of(created.ended);
  }
  outcome<grant> turn = co_await wait_for_turn(mine, r);
  if (turn.done()) holds_.insert_or_assign({r.key, r.client}, hold{std::move(mine)});
  co_return turn;
}

// The lowest node holds the lock; every other one watches the node just before it, so that a
// release wakes one waiter only.
task<outcome<grant>> sequential::wait_for_turn(node& mine, request r) {
  while (true) {
    const reply queue = co_await mine.zk->children(mine.parent, last_answer(r));
    if (queue.ended == status::rejected) co_return co_await leave(mine, r, refusal::unavailable);
    if (queue.ok()) {
      const place here = find_place(queue.names, base_name(mine.path));
      if (!here.listed) co_return refusal::unavailable;  // somebody deleted it
      if (!here.predecessor) co_return grant{static_cast<std::uint64_t>(mine.czxid)};
      const std::string before = mine.parent + '/' + *here.predecessor;
      co_await wait_for_change(mine.zk, before, r);
    }
    const bool connected = co_await mine.zk->connected_by(r.deadline);
    if (mine.zk->over()) co_return refusal::unavailable;  // and the node ends with the session
    if (!connected || loop_.now() >= r.deadline)
      co_return co_await leave(mine, r, refusal::deadline);
  }
}

// Ends at once when the node is already gone.
task<void> sequential::wait_for_change(std::shared_ptr<handle> zk, std::string path, request r) {
  const auto watch = std::make_shared<node_watch>(loop_);
  const reply before = co_await zk->get_and_watch(path, watch, last_answer(r));
  if (before.ok()) co_await watch->fired.wait_until(r.deadline);
}

task<outcome<nothing>> sequential::release(request r) {
  hold* const held = find_hold(r);
  if (held == nullptr) co_return refusal::not_owner;
  if (held->depth > 1) {
    --held->depth;
    co_return nothing{};
  }
  const node mine = std::move(held->held);
  holds_.erase({r.key, r.client});

  if (!co_await mine.zk->connected_by(r.deadline)) {
    if (mine.zk->over()) co_return refusal::not_owner;
    delete_later(mine);
    co_return doubt::connection_lost;
  }
  const reply deleted = co_await mine.zk->remove(mine.path, r.answer_by());
  if (deleted.ok()) co_return nothing{};
  if (deleted.ended == status::no_node || deleted.ended == status::session_over)
    co_return refusal::not_owner;
  delete_later(mine);
  co_return doubt_of(deleted.ended);
}

// A session-bound lock has no lease to extend.
task<outcome<grant>> sequential::renew(request r) {
  const hold* const held = find_hold(r);
  if (held == nullptr) co_return refusal::not_owner;
  co_return grant{static_cast<std::uint64_t>(held->held.czxid)};
}

// One node --------------------------------------------------------------------------------------

// Queues up. The server reaps containers that became empty, so the parent may be missing.
task<reply> sequential::create(node& mine, time_point deadline) {
  const std::string path = mine.parent + '/' + mine.prefix + "lock-";
  reply created = co_await mine.zk->create(path, mine.zk->local_address(),
                                           node_kind::ephemeral_sequential, deadline);
  if (created.ended == status::no_node) {
    for (const std::string& part : with_ancestors(mine.parent))
      co_await mine.zk->create(part, "", node_kind::container, deadline);
    created = co_await mine.zk->create(path, mine.zk->local_address(),
                                       node_kind::ephemeral_sequential, deadline);
  }
  if (created.ended == status::connection_lost) created = co_await find_own(mine, deadline);
  if (created.ok()) {
    mine.path = created.text;
    mine.czxid = created.czxid;
  }
  co_return created;
}

// Protection: after a lost connection only the node's prefix tells whether it was created. A node
// that is not there after a sync never will be: the server rejects what a moved session had sent.
task<reply> sequential::find_own(node& mine, time_point deadline) {
  reply lost{};
  lost.ended = status::connection_lost;
  if (!co_await mine.zk->connected_by(deadline)) {
    if (mine.zk->over()) lost.ended = status::session_over;
    co_return lost;
  }
  const reply synced = co_await mine.zk->sync(mine.parent, deadline);
  if (!synced.ok()) co_return lost;
  const reply queue = co_await mine.zk->children(mine.parent, deadline);
  if (!queue.ok()) co_return lost;
  for (const std::string& child : queue.names) {
    if (!child.starts_with(mine.prefix)) continue;
    const std::string path = mine.parent + '/' + child;
    reply found = co_await mine.zk->exists(path, deadline);
    if (!found.ok()) co_return lost;
    found.text = path;
    co_return found;
  }
  lost.ended = status::rejected;
  co_return lost;
}

// Gives up the place in the queue; certain only when the server confirms it.
task<outcome<grant>> sequential::leave(const node& mine, request r, refusal why) {
  if (mine.zk->connected()) {
    const reply deleted =
        co_await mine.zk->remove(mine.path, std::max(last_answer(r), loop_.now() + one_round_trip));
    if (deleted.ok() || deleted.ended == status::no_node || deleted.ended == status::session_over)
      co_return why;
  }
  delete_later(mine);
  co_return mine.zk->connected() ? doubt::deadline : doubt::connection_lost;
}

// What is left behind -----------------------------------------------------------------------------

void sequential::delete_later(node leftover) {
  tasks_.spawn(sweep(std::move(leftover), loop_));
}

// Ends when the node is gone, at the latest with its session.
task<void> sequential::sweep(node leftover, loop& l) {
  while (co_await leftover.zk->connected_by(time_point::max())) {
    const auto deadline = l.now() + sweep_patience;
    const reply synced = co_await leftover.zk->sync(leftover.parent, deadline);
    const reply queue = co_await leftover.zk->children(leftover.parent, deadline);
    if (queue.ended == status::no_node) co_return;
    if (synced.ok() && queue.ok()) {
      bool gone = true;
      for (const std::string& child : queue.names) {
        if (!child.starts_with(leftover.prefix)) continue;
        const std::string path = leftover.parent + '/' + child;
        const reply deleted = co_await leftover.zk->remove(path, deadline);
        gone = deleted.ok() || deleted.ended == status::no_node;
      }
      if (gone) co_return;
    }
    co_await leftover.zk->pause(sweep_pause);
  }
}

// The session -------------------------------------------------------------------------------------

sequential::hold* sequential::find_hold(const request& r) {
  const auto found = holds_.find({r.key, r.client});
  if (found == holds_.end()) return nullptr;
  if (!found->second.held.zk->over()) return &found->second;
  holds_.erase(found);  // it ended with its session
  return nullptr;
}

// The session once it is connected, or a new one if it turns out to have ended; null when the
// deadline came first.
task<std::shared_ptr<handle>> sequential::live_session(time_point deadline) {
  do {
    if (zk_->over()) {
      of_ended_sessions_ += zk_->sent();
      ++of_ended_sessions_.reconnects;
      zk_ = handle::open(loop_, tasks_, where_);
    }
    const auto zk = zk_;
    const bool connected = co_await zk->connected_by(deadline);
    if (connected) co_return zk;
  } while (zk_->over() && loop_.now() < deadline);
  co_return nullptr;
}

task<void> sequential::close() {
  zk_->close();
  co_await tasks_.join();
}

traffic sequential::sent() const {
  traffic sum = of_ended_sessions_;
  sum += zk_->sent();
  return sum;
}

}  // namespace lockmark::zookeeper
