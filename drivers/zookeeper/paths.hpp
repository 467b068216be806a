// Names in ZooKeeper, and the order of a lock's queue: pure functions, no server.
//
// The layout is that of Curator's recipes, so that both exclude each other:
//   <chroot>/lockmark/<run>/<key>/_c_<uuid>-lock-<sequence>
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockmark::zookeeper {

// "/a/b/c" -> "/a", "/a/b", "/a/b/c": what has to be created, in this order.
std::vector<std::string> with_ancestors(std::string_view path);

// The last part of a path.
std::string_view base_name(std::string_view path);

// "_c_<uuid>-", the mark by which a client finds its own node again after a lost connection.
std::string protection_prefix(std::string_view uuid);

// The queue around one child.
struct place {
  bool listed = false;                // it is among the children
  std::optional<std::string> behind;  // whom it waits for; none: its turn has come
};

// One kind of queue. Curator sorts the children by the text after their lock's name, compared as
// text. Also beyond the sequence's overflow to -2147483648, where that order is no longer the order
// of arrival: two orders would mean two holders.
struct queue_kind {
  std::string_view lock_name;  // nodes are "<prefix><lock_name><sequence>"
  place (*find)(const std::vector<std::string>& children, std::string_view mine);
};

// Everybody waits for the one before. Source: InterProcessMutex.
extern const queue_kind mutex_queue;

// Readers and writers stand in one queue. A writer waits for the one before, a reader for the first
// writer before it: the names have one length, so that either sorts as well. Source:
// InterProcessReadWriteLock.
extern const queue_kind writer_queue;
extern const queue_kind reader_queue;

// Random UUIDs (version 4) for protection prefixes. SplitMix64, Steele et al. 2014.
class uuid_source {
 public:
  explicit uuid_source(std::uint64_t seed) : state_(seed) {}
  std::string next();

 private:
  std::uint64_t next_word();
  std::uint64_t state_;
};

}  // namespace lockmark::zookeeper
