// Names in ZooKeeper, and the order of a lock's queue: pure functions, no server.
//
// The layout is that of Curator's recipes, so that both exclude each other:
//   <chroot>/lockmark/<run>/<key>/_c_<uuid>-lock-<sequence>
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace lockmark::zookeeper {

// "/a/b/c" -> "/a", "/a/b", "/a/b/c": the nodes to create, in this order.
std::vector<std::string> with_ancestors(std::string_view path);

// The last part of a path.
std::string_view base_name(std::string_view path);

// The number that the server gave to a node of a queue: the last ten characters of its path.
std::string number_in(std::string_view path);

// "_c_<uuid>-", the mark by which a client finds its own node again after a lost connection.
std::string protection_prefix(std::string_view uuid);

// One child's place in the queue.
struct place {
  bool listed = false;                // it is among the children
  std::optional<std::string> behind;  // the node it waits for; none: its turn has come
};

// One kind of queue. Curator sorts the children by the text after their lock's name, compared as
// text. This also holds beyond the sequence's overflow to -2147483648, where that is no longer the
// order of arrival: with two different orders there would be two holders.
struct queue_kind {
  std::string_view lock_name;  // nodes are "<prefix><lock_name><sequence>"
  place (*find)(const std::vector<std::string>& children, std::string_view mine);
};

// Each node waits for the one before it. Source: InterProcessMutex.
extern const queue_kind mutex_queue;

// Readers and writers share one queue. A writer waits for the node before it, a reader for the
// first writer before it; the two lock names have the same length, so either sorts both. Source:
// InterProcessReadWriteLock.
extern const queue_kind writer_queue;
extern const queue_kind reader_queue;

// Random UUIDs (version 4) for protection prefixes.
class uuid_source {
 public:
  explicit uuid_source(std::uint64_t seed) : random_(seed) {}
  std::string next();

 private:
  std::mt19937_64 random_;
};

}  // namespace lockmark::zookeeper
