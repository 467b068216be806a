// The lock zookeeper/sequential: a queue of ephemeral sequential nodes, one session per instance.
//
// The protocol is that of Curator's InterProcessMutex (5.4): both exclude each other. Source:
// org.apache.curator.framework.recipes.locks.{InterProcessMutex,LockInternals}. Unlike Curator, it
// does not retry; what it cannot know it says (doubt), and deletes in the background.
//
// What it promises: one holder, as long as no holder outlives its session. alive() tells a holder
// that it may have; the fencing token (the czxid of the holder's node) tells everybody else.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "drivers/zookeeper/handle.hpp"
#include "drivers/zookeeper/paths.hpp"

namespace lockmark::zookeeper {

class sequential final : public session {
 public:
  // `key_paths[request::key]` is the parent of that key's queue.
  sequential(loop& l, const instance& who, handle_settings where,
             std::vector<std::string> key_paths);

  // REQUIRES: called once, before anything else. False: not connected by the deadline.
  task<bool> connect(time_point deadline);
  const std::string& last_failure() const { return zk_->last_failure(); }

  task<outcome<grant>> acquire(request r) override;
  task<outcome<grant>> renew(request r) override;
  task<outcome<nothing>> release(request r) override;
  bool alive() const override { return zk_->alive(); }
  task<void> close() override;
  traffic sent() const override;

 private:
  // One node in a key's queue.
  struct node {
    std::shared_ptr<handle> zk;  // the session that it belongs to, and ends with
    std::string parent;
    std::string prefix;  // protection: tells it from all others, also without its path
    std::string path;    // empty: not known to exist
    std::int64_t czxid = 0;
  };
  struct hold {
    node held;
    std::uint32_t depth = 1;
  };
  using owner_of_key = std::pair<std::uint32_t, std::uint32_t>;  // request::key, request::client

  // Coroutines below that take a node by reference are awaited at once by its owner.
  task<std::shared_ptr<handle>> live_session(time_point deadline);
  hold* find_hold(const request& r);
  task<reply> create(node& mine, time_point deadline);
  task<reply> find_own(node& mine, time_point deadline);
  task<outcome<grant>> wait_for_turn(node& mine, request r);
  task<void> wait_for_change(std::shared_ptr<handle> zk, std::string path, request r);
  task<outcome<grant>> leave(const node& mine, request r, refusal why);
  void delete_later(node leftover);
  static task<void> sweep(node leftover, loop& l);

  loop& loop_;
  handle_settings where_;
  std::vector<std::string> key_paths_;
  uuid_source uuids_;
  scope tasks_;
  std::shared_ptr<handle> zk_;
  std::map<owner_of_key, hold> holds_;
  traffic of_ended_sessions_;
};

}  // namespace lockmark::zookeeper
