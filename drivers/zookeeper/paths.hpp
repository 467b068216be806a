// Names in ZooKeeper, and the order of a lock's queue: pure functions, no server.
//
// The layout is that of Curator's InterProcessMutex, so that both exclude each other:
//   <chroot>/lockmark/<run>/<key>/_c_<uuid>-lock-<sequence>
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockmark::zookeeper {

// Where the servers are: "zookeeper://h1,h2:2182/chroot".
struct target {
  std::vector<std::pair<std::string, std::uint16_t>> hosts;  // at least one
  std::string chroot;                                        // "" or "/a/b", never ends in '/'

  // "h1:2181,h2:2182", as the C client wants it.
  std::string host_list() const;
};

// Throws usage_error with what is wrong and what was expected.
target parse_target(std::string_view url);

// "/a/b/c" -> "/a", "/a/b", "/a/b/c": what has to be created, in this order.
std::vector<std::string> with_ancestors(std::string_view path);

// The last part of a path.
std::string_view base_name(std::string_view path);

// "_c_<uuid>-", the mark by which a client finds its own node again after a lost connection.
std::string protection_prefix(std::string_view uuid);

// What the queue is sorted by: the text after the last "lock-", compared as text. Also beyond the
// sequence's overflow to -2147483648, where that order is no longer the order of arrival: Curator
// sorts so, and two orders would mean two holders.
std::string_view sequence_of(std::string_view child);

// The queue around `mine`, which is a child's name.
struct place {
  bool listed = false;                     // `mine` is among the children
  std::optional<std::string> predecessor;  // the last one before it; none: `mine` holds the lock
};
place find_place(const std::vector<std::string>& children, std::string_view mine);

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
