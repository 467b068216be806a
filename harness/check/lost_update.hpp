// Optimistic locks: did two commits replace the same version, or did the server lose one?
//
// Online: every confirmed commit names the version that it replaced, and no version may be replaced
// twice; the last few hundred versions of each key are remembered. At the end, exactly: the
// server's own count of commits must equal the confirmed ones, plus at most those in doubt.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "harness/check/history.hpp"

namespace lockmark::check {

class lost_updates {
 public:
  explicit lost_updates(std::size_t keys) : keys_(keys) {}

  void committed(const event& e);
  void doubtful(const event& e) { ++keys_[e.key].doubtful; }

  // The server's count for a key, read after the run, when it includes every commit.
  void server_counted(std::uint32_t key, std::uint64_t commits);

  std::uint64_t found() const;

 private:
  struct key_state {
    std::uint64_t confirmed = 0;
    std::uint64_t doubtful = 0;
    std::uint64_t replaced_twice = 0;
    std::uint64_t miscounted = 0;  // server's count against ours; includes the above
    std::set<std::uint64_t> recent;
  };

  std::vector<key_state> keys_;
};

}  // namespace lockmark::check
