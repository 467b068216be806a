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
