// The nodes that locks are made of: made so that they are known again, and certainly got rid of.
//
// Protection is Curator's: a name that no other node has tells, after a lost connection, whether a
// node was made. Where all clients make the same node, its data tell. Unlike Curator, this does not
// retry: what it cannot know ends in doubt, and the node is removed in the background. Source:
// org.apache.curator.framework.imps.{CreateBuilderImpl,ProtectedUtils}.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "drivers/zookeeper/handle.hpp"
#include "drivers/zookeeper/paths.hpp"

namespace lockmark::zookeeper {

// An ephemeral node of one attempt or hold.
struct node {
  std::shared_ptr<handle> zk;  // the session that it belongs to, and ends with
  std::string parent;
  std::string mark;          // "_c_<uuid>-": no other node has it
  bool marked_data = false;  // it is the node's data; false: its name begins with it
  std::string path{};        // empty: not known yet
  std::int64_t czxid = 0;
};

// When the steps of an attempt end. Waiting for a turn ends with the deadline; an answer that is
// due then is waited for somewhat longer, the "one round trip" of the contract, because without it
// the attempt would end in doubt.
struct limits {
  explicit limits(const request& r);
  time_point wait_until;
  time_point answer_by;
};

doubt doubt_of(const reply& r);

// Makes containers of a path's missing parts, as Curator does: the server reaps those that became
// empty.
task<void> create_containers(std::shared_ptr<handle> zk, std::string path, time_point deadline);

class node_maker {
 public:
  // What is removed later is so in `tasks`, at the latest when its session ends.
  node_maker(loop& l, scope& tasks, const std::string& seed);

  // Tells a node from all others.
  std::string fresh_mark() { return protection_prefix(uuids_.next()); }

  // A node that is still to be created: one of a queue, or the one that all clients make.
  node plan(std::shared_ptr<handle> zk, std::string parent);
  node plan_shared(std::shared_ptr<handle> zk, std::string parent, std::string_view name);

  // Coroutines that take a node by reference are awaited at once by its owner.

  // Creates "<parent>/<mark><lock_name><sequence>". Done; or refused, and it certainly is not there
  // (busy: there is another one in its place); or in doubt, and it will be removed.
  task<outcome<nothing>> create(node& n, std::string_view lock_name, limits until);

  // Whether it is there, however recently it was made: ok with its path, or no_node, or unknown.
  static task<reply> find(node n, time_point deadline);

  // Gives up what an attempt has, all at once. Certain (`why`) only when the server confirms it;
  // what is in doubt will be removed.
  task<outcome<grant>> give_up(std::vector<node> all, refusal why, limits until);

  // Removes what was held. Refused: it was there no longer. In doubt, it will be removed.
  task<outcome<nothing>> release(node n, limits until);

 private:
  task<reply> create_protected(node& n, std::string_view lock_name, time_point deadline);
  void remove_later(node n);
  static task<void> sweep(node leftover, loop& l);
  static task<void> remove_into(node n, time_point deadline, bool* certain);

  loop& loop_;
  scope& tasks_;
  uuid_source uuids_;
};

}  // namespace lockmark::zookeeper
