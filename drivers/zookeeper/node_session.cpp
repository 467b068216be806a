#include "drivers/zookeeper/node_session.hpp"

#include <algorithm>

namespace lockmark::zookeeper {
namespace {

bool has_ended(const std::vector<node>& held) {
  return std::ranges::any_of(held, [](const node& n) { return n.zk->over(); });
}

}  // namespace

task<outcome<grant>> node_session::acquire(request r) {
  const auto zk = co_await live_session(r.deadline);
  if (!zk) co_return refusal::unavailable;
  if (hold* again = find_hold(r); again != nullptr && reentrant()) {
    ++again->depth;
    co_return again->granted;
  }
  std::vector<node> taken;
  const auto got = co_await take(zk, r, taken);
  if (got.done()) {
    hold mine{std::move(taken), got.value(), 1};
    holds_.emplace(owner_of_key{r.key, r.client}, std::move(mine));
  }
  co_return got;
}

// A release that finds its session ended opens the next one, as any call does.
task<outcome<nothing>> node_session::release(request r) {
  const auto released = co_await release_held(r);
  if (session_ended()) co_await live_session(r.deadline);
  co_return released;
}

// In reverse order. If one release fails, the others still follow.
task<outcome<nothing>> node_session::release_held(request r) {
  hold* const held = find_hold(r);
  if (held == nullptr) co_return refusal::not_owner;
  if (held->depth > 1) {
    --held->depth;
    co_return nothing{};
  }
  std::vector<node> all = std::move(held->nodes);
  holds_.erase(holds_.find({r.key, r.client}));

  outcome<nothing> worst = nothing{};
  for (; !all.empty(); all.pop_back()) {
    const auto released = co_await nodes_.release(std::move(all.back()), limits(r));
    if (released.in_doubt() || worst.done()) worst = released;
  }
  co_return worst;
}

// A session-bound lock has no lease to extend.
task<outcome<grant>> node_session::renew(request r) {
  const hold* const held = find_hold(r);
  if (held == nullptr) co_return refusal::not_owner;
  co_return held->granted;
}

task<outcome<grant>> node_session::enter(const queue_kind& queue, node& mine, limits until,
                                         reading watch) {
  const auto created = co_await nodes_.create(mine, queue.lock_name, until);
  if (!created.done()) co_return created.without_value<grant>();
  std::vector<node> place_taken{mine};
  while (true) {
    const reply all = co_await mine.zk->children(mine.parent, nullptr, until.answer_by);
    if (all.ended == status::rejected || all.ended == status::no_rights)
      co_return co_await nodes_.give_up(std::move(place_taken), refusal::unavailable, until);
    if (all.ended == status::no_node) co_return refusal::unavailable;  // queue deleted
    if (all.ok()) {
      const place here = queue.find(all.names, base_name(mine.path));
      if (!here.listed) co_return refusal::unavailable;  // the node was deleted
      if (!here.behind) co_return grant{static_cast<std::uint64_t>(mine.czxid)};
      // Only the deletion matters, but exists() leaves a watch behind on a missing node.
      const std::string before = mine.parent + '/' + *here.behind;
      co_await wait_for_change(mine.zk, before, watch, until);
    }
    const bool connected = co_await mine.zk->connected_by(until.wait_until);
    if (mine.zk->over()) co_return refusal::unavailable;  // the node ends with the session
    if (connected && loop_.now() < until.wait_until) continue;
    const refusal why = connected ? refusal::deadline : refusal::unavailable;
    co_return co_await nodes_.give_up(std::move(place_taken), why, until);
  }
}

task<void> node_session::wait_for_change(std::shared_ptr<handle> zk, std::string path, reading read,
                                         limits until) {
  const auto watch = std::make_shared<node_watch>(loop_);
  const reply found = co_await (zk.get()->*read)(path, watch, until.answer_by);
  if (found.ok()) co_await watch->fired.wait_until(until.wait_until);
}

bool node_session::alive() const {
  return instance_session::alive() && std::ranges::none_of(holds_, [](const auto& each) {
           return has_ended(each.second.nodes);
         });
}

// Drops the hold if it ended with its session.
node_session::hold* node_session::find_hold(const request& r) {
  while (true) {
    const auto found = holds_.find({r.key, r.client});
    if (found == holds_.end()) return nullptr;
    if (!has_ended(found->second.nodes)) return &found->second;
    holds_.erase(found);
  }
}

}  // namespace lockmark::zookeeper
