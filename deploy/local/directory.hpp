// The temporary directory of one cluster, locked by its keeper for as long as the keeper lives.
//
// The lock (flock on the directory itself) is how others tell a living cluster from what a killed
// keeper left behind, whatever has become of process ids since.
#pragma once

#include <filesystem>
#include <string_view>

#include "deploy/local/process.hpp"

namespace lockmark::local {

class temporary_directory {
 public:
  // Makes `lockmark-local-NAME-XXXXXX` in $TMPDIR or /tmp, for the calling user only, and locks
  // it. Throws start_error when that is not possible.
  explicit temporary_directory(std::string_view name);
  const std::filesystem::path& path() const { return path_; }
  // Removes the directory with all that is in it; it can also be done twice.
  void remove() noexcept;

 private:
  std::filesystem::path path_;
  unique_fd lock_;
};

// Whether some keeper lives in that directory.
bool is_inhabited(const std::filesystem::path& directory);

// Removes a directory unless a keeper lives in it or has made it the moment before.
void remove_if_abandoned(const std::filesystem::path& directory) noexcept;

// Removes the calling user's abandoned directories: those of keepers that were killed themselves.
void remove_abandoned_directories() noexcept;

// Whether files there are kept in memory, where syncing costs nothing.
bool is_in_memory(const std::filesystem::path& directory);

}  // namespace lockmark::local
