// Common to the tests with real servers: whether processes exist, and waiting for a condition.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "deploy/local/ask.hpp"
#include "deploy/local/cluster.hpp"

namespace lockmark::local {

// Whether the process runs; a zombie, which only waits for its parent, does not.
bool is_running(pid_t pid);

// Whether the keeper, all servers and the directory are gone.
bool is_gone(const cluster_info& cluster);

// A process that has started a cluster and then does nothing. It leads its own process group.
struct orphan {
  pid_t owner = 0;
  cluster_info cluster;
};
orphan start_in_child(const std::string& topology);

// While it exists, $TMPDIR is a new directory: the clusters of other programs, which remove what
// was abandoned, do not see those of this one. Removed at the end, with what is in it.
class private_tmpdir {
 public:
  private_tmpdir();
  ~private_tmpdir();
  private_tmpdir(const private_tmpdir&) = delete;
  private_tmpdir& operator=(const private_tmpdir&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::string before_;  // empty: it was not set
};

}  // namespace lockmark::local
