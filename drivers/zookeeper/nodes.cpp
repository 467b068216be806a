#include "drivers/zookeeper/nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <random>
#include <utility>

namespace lockmark::zookeeper {
namespace {

constexpr duration one_round_trip = std::chrono::milliseconds(700);

// Interval and time limit of a background deletion.
constexpr duration sweep_pause = std::chrono::milliseconds(100);
constexpr duration sweep_patience = std::chrono::seconds(5);

std::uint64_t seed_of(const std::string& id) {
  std::random_device entropy;
  return std::hash<std::string>{}(id) ^ (std::uint64_t{entropy()} << 32U) ^ entropy();
}

// The node certainly does not exist, or not for long: it ends with its session.
bool is_gone(const reply& removed) {
  return removed.ok() || removed.ended == status::no_node || removed.ended == status::session_over;
}

}  // namespace

limits::limits(const request& r)
    : wait_until(r.deadline), answer_by(std::max(r.answer_by(), r.deadline + one_round_trip)) {}

doubt doubt_of(const reply& r) {
  return r.ended == status::silent ? doubt::deadline : doubt::connection_lost;
}

task<void> create_containers(std::shared_ptr<handle> zk, std::string path, time_point deadline) {
  for (const std::string& part : with_ancestors(path))
    co_await zk->create(part, "", node_kind::container, deadline);
}

node_maker::node_maker(loop& l, scope& tasks, const std::string& seed)
    : loop_(l), tasks_(tasks), uuids_(seed_of(seed)) {}

node node_maker::plan(std::shared_ptr<handle> zk, std::string parent) {
  return {std::move(zk), std::move(parent), fresh_mark()};
}

node node_maker::plan_shared(std::shared_ptr<handle> zk, std::string parent,
                             std::string_view name) {
  std::string path = fmt::format("{}/{}", parent, name);
  return {std::move(zk), std::move(parent), fresh_mark(), true, std::move(path)};
}

task<outcome<nothing>> node_maker::create(node& n, std::string_view lock_name, limits until) {
  const reply created = co_await create_protected(n, lock_name, until.answer_by);
  if (created.ok()) {
    n.path = created.text;
    n.czxid = created.czxid;
    co_return nothing{};
  }
  if (created.ended == status::node_exists) co_return refusal::busy;
  if (created.ended == status::connection_lost || created.ended == status::silent) {
    remove_later(n);
    co_return doubt_of(created);
  }
  co_return refusal::unavailable;
}

task<reply> node_maker::create_protected(node& n, std::string_view lock_name, time_point deadline) {
  const std::string path =
      n.marked_data ? n.path : fmt::format("{}/{}{}{}", n.parent, n.mark, lock_name, n.sequence);
  const bool is_numbered = !n.marked_data && n.sequence.empty();
  const auto kind = is_numbered ? node_kind::ephemeral_sequential : node_kind::ephemeral;
  // Curator's default data: the client's address.
  const std::string data = n.marked_data ? n.mark : n.zk->local_address();
  reply created = co_await n.zk->create(path, data, kind, deadline);
  if (created.ended == status::no_node) {
    co_await create_containers(n.zk, n.parent, deadline);
    created = co_await n.zk->create(path, data, kind, deadline);
  }
  if (created.ended != status::connection_lost) co_return created;

  const bool connected = co_await n.zk->connected_by(deadline);
  if (!connected) {
    if (n.zk->over()) created.ended = status::session_over;
    co_return created;
  }
  reply found = co_await find(n, deadline);
  if (found.ended == status::no_node) found.ended = status::rejected;
  const bool known = found.ok() || found.ended == status::rejected;
  co_return known ? found : created;
}

// A node that does not exist after a sync never will: the server rejects the requests of a session
// that moved to another server.
task<reply> node_maker::find(node n, time_point deadline) {
  reply found = co_await n.zk->sync(n.parent, deadline);
  if (!found.ok()) co_return found;
  if (n.marked_data) {
    found = co_await n.zk->get(n.path, nullptr, deadline);
    if (found.ok() && found.text != n.mark) found.ended = status::no_node;
    found.text = n.path;
    co_return found;
  }
  const reply queue = co_await n.zk->children(n.parent, nullptr, deadline);
  found.ended = queue.ok() ? status::no_node : queue.ended;
  for (const std::string& child : queue.names) {
    if (!child.starts_with(n.mark)) continue;
    const std::string path = fmt::format("{}/{}", n.parent, child);
    found = co_await n.zk->exists(path, nullptr, deadline);
    found.text = path;
    break;
  }
  co_return found;
}

task<void> node_maker::remove_into(node n, time_point deadline, bool* certain) {
  if (n.zk->connected()) {
    const reply removed = co_await n.zk->remove(n.path, deadline);
    *certain = *certain && is_gone(removed);
  } else if (!n.zk->over()) {
    *certain = false;
  }
}

task<outcome<grant>> node_maker::give_up(std::vector<node> all, refusal why, limits until) {
  bool certain = true;
  scope removals{loop_};
  for (const node& n : all) removals.spawn(remove_into(n, until.answer_by, &certain));
  co_await removals.join();
  if (certain) co_return why;
  bool connected = true;
  for (node& n : all) {
    connected = connected && n.zk->connected();
    remove_later(std::move(n));
  }
  co_return connected ? doubt::deadline : doubt::connection_lost;
}

task<outcome<nothing>> node_maker::release(node n, limits until) {
  const bool connected = co_await n.zk->connected_by(until.wait_until);
  if (!connected) {
    if (n.zk->over()) co_return refusal::not_owner;
    remove_later(std::move(n));
    co_return doubt::connection_lost;
  }
  const reply removed = co_await n.zk->remove(n.path, until.answer_by);
  if (removed.ok()) co_return nothing{};
  if (is_gone(removed)) co_return refusal::not_owner;
  remove_later(std::move(n));
  co_return doubt_of(removed);
}

void node_maker::remove_later(node n) {
  tasks_.spawn(sweep(std::move(n), loop_));
}

// Returns when the node is gone, at the latest with its session.
task<void> node_maker::sweep(node leftover, loop& l) {
  bool connected = co_await leftover.zk->connected_by(time_point::max());
  while (connected) {
    const auto deadline = l.now() + sweep_patience;
    const reply found = co_await find(leftover, deadline);
    if (is_gone(found) && !found.ok()) co_return;
    if (found.ok()) {
      const reply removed = co_await leftover.zk->remove(found.text, deadline);
      if (is_gone(removed)) co_return;
    }
    co_await leftover.zk->pause(sweep_pause);
    connected = co_await leftover.zk->connected_by(time_point::max());
  }
}

}  // namespace lockmark::zookeeper
