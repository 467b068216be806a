// The temporary directory of one cluster, locked by its keeper for as long as the keeper lives.
//
// The lock (flock on the directory itself) distinguishes a living cluster from the leftovers of a
// killed keeper, even if process ids have been reused.
#pragma once

#include <filesystem>
#include <string_view>

#include "deploy/local/process.hpp"

namespace lockmark::local {

class temporary_directory {
 public:
  // Makes `lockmark-local-NAME-XXXXXX` in $TMPDIR or /tmp, for the calling user only, and locks it.
  // Throws start_error if that fails.
  explicit temporary_directory(std::string_view name);
  const std::filesystem::path& path() const { return path_; }
  // Removes the directory and its contents; may be called twice.
  void remove() noexcept;

 private:
  std::filesystem::path path_;
  unique_fd lock_;
};

// Whether a living keeper uses that directory, or somebody is removing it.
bool is_inhabited(const std::filesystem::path& directory);

// Removes a directory unless a living keeper uses it or has just created it, or another process is
// removing it.
void remove_if_abandoned(const std::filesystem::path& directory) noexcept;

// Removes the calling user's abandoned directories: those of keepers that were killed.
void remove_abandoned_directories() noexcept;

// Whether files there are in memory, where syncing costs nothing.
bool is_in_memory(const std::filesystem::path& directory);

}  // namespace lockmark::local
