#include "drivers/zookeeper/queue.hpp"

namespace lockmark::zookeeper {

task<outcome<grant>> node_queue::enter(node& mine, limits until) {
  const auto created = co_await nodes_.create(mine, kind_.lock_name, until);
  if (!created.done()) co_return created.without_value<grant>();
  co_return co_await wait_for_turn(mine, until);
}

task<outcome<grant>> node_queue::wait_for_turn(node& mine, limits until) {
  std::vector<node> place_taken{mine};
  while (true) {
    const reply queue = co_await mine.zk->children(mine.parent, nullptr, until.answer_by);
    if (queue.ended == status::rejected || queue.ended == status::no_rights)
      co_return co_await nodes_.give_up(std::move(place_taken), refusal::unavailable, until);
    if (queue.ended == status::no_node) co_return refusal::unavailable;  // queue deleted
    if (queue.ok()) {
      const place here = kind_.find(queue.names, base_name(mine.path));
      if (!here.listed) co_return refusal::unavailable;  // the node was deleted
      if (!here.behind) co_return grant{static_cast<std::uint64_t>(mine.czxid)};
      const std::string before = mine.parent + '/' + *here.behind;
      co_await wait_for_change(mine.zk, before, until);
    }
    const bool connected = co_await mine.zk->connected_by(until.wait_until);
    if (mine.zk->over()) co_return refusal::unavailable;  // the node ends with the session
    if (connected && loop_.now() < until.wait_until) continue;
    const refusal why = connected ? refusal::deadline : refusal::unavailable;
    co_return co_await nodes_.give_up(std::move(place_taken), why, until);
  }
}

// Returns at once if the node is already gone. Reads the node, although only its deletion matters:
// exists() would leave a watch behind on a missing node.
task<void> node_queue::wait_for_change(std::shared_ptr<handle> zk, std::string path, limits until) {
  const auto watch = std::make_shared<node_watch>(loop_);
  const reply before = co_await zk->get(path, watch, until.answer_by);
  if (before.ok()) co_await watch->fired.wait_until(until.wait_until);
}

}  // namespace lockmark::zookeeper
