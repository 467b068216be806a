// The nodes that locks consist of: recognisable after a lost connection, and reliably removed.
//
// Protection is Curator's: a unique node name shows, after a lost connection, whether the node was
// created. Where all clients create the same node, its data show it. Unlike Curator, this does not
// retry: an unknown result ends in doubt, and the node is removed in the background. Source:
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
  std::string mark;          // "_c_<uuid>-": unique to this node
  bool marked_data = false;  // the mark is the node's data; false: a prefix of its name
  std::string path{};        // empty: not known yet
  std::int64_t czxid = 0;
  // Not empty: it takes the place in the queue that another node of its owner has, instead of one
  // that the server numbers.
  std::string sequence{};
};

// When the steps of an attempt end. Waiting for a turn ends at the deadline; a reply still due then
// gets somewhat longer, the "one round trip" of the contract, because without it the attempt would
// end in doubt.
struct limits {
  explicit limits(const request& r);
  time_point wait_until;
  time_point answer_by;
};

doubt doubt_of(const reply& r);

// Creates the missing parts of a path as containers, as Curator does: the server reaps those that
// became empty.
task<void> create_containers(std::shared_ptr<handle> zk, std::string path, time_point deadline);

class node_maker {
 public:
  // Later removals run in `tasks`, and end with their session at the latest.
  node_maker(loop& l, scope& tasks, const std::string& seed);

  // A mark that no other node has.
  std::string fresh_mark() { return protection_prefix(uuids_.next()); }

  // A node yet to be created: one of a queue, or the one that all clients create.
  node plan(std::shared_ptr<handle> zk, std::string parent);
  node plan_shared(std::shared_ptr<handle> zk, std::string parent, std::string_view name);

  // Coroutines that take a node by reference are awaited at once by its owner.

  // Creates "<parent>/<mark><lock_name><sequence>". Done; or refused, and it certainly does not
  // exist (busy: another node is in its place); or in doubt, and it will be removed.
  task<outcome<nothing>> create(node& n, std::string_view lock_name, limits until);

  // Whether the node exists, however recently it was created: ok with its path, no_node, or
  // unknown.
  static task<reply> find(node n, time_point deadline);

  // Removes all nodes of an attempt concurrently. Refused with `why` only if the server confirms
  // it; nodes in doubt will be removed later.
  task<outcome<grant>> give_up(std::vector<node> all, refusal why, limits until);

  // Removes a held node. Refused: it no longer existed. In doubt: it will be removed later.
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
