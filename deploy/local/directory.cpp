#include "deploy/local/directory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "deploy/local/error.hpp"

namespace lockmark::local {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "lockmark-local-";

unique_fd open_directory(const fs::path& directory) {
  return unique_fd{open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
}

bool is_ours(const fs::path& directory) {
  struct stat status {};
  if (!directory.filename().string().starts_with(prefix)) return false;
  return lstat(directory.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == geteuid();
}

}  // namespace

temporary_directory::temporary_directory(std::string_view name) {
  const fs::path parent = fs::temp_directory_path();
  // Created under another name: a directory not yet locked would look abandoned.
  std::string born = (parent / "lockmark-new-XXXXXX").string();
  if (mkdtemp(born.data()) == nullptr) {
    throw start_error(
        fmt::format("no directory for {} in {}: {}", name, parent.string(), std::strerror(errno)));
  }
  const std::string suffix = born.substr(born.size() - 6);
  // A bare @ would end the login of a URL that names a file in here.
  std::string named(name);
  std::ranges::replace(named, '@', '-');
  path_ = parent / fmt::format("{}{}-{}", prefix, named, suffix);
  lock_ = open_directory(born);
  if (!lock_ || flock(lock_.get(), LOCK_EX | LOCK_NB) != 0 ||
      rename(born.c_str(), path_.c_str()) != 0) {
    const std::string why = std::strerror(errno);
    rmdir(born.c_str());
    throw start_error(fmt::format("the directory {} could not be locked: {}", born, why));
  }
}

void temporary_directory::remove() noexcept {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

bool is_inhabited(const fs::path& directory) {
  const unique_fd handle = open_directory(directory);
  return handle && flock(handle.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

// Whoever removes it has its lock: two at once would each fail at what the other has removed.
void remove_if_abandoned(const fs::path& directory) noexcept {
  if (!is_ours(directory)) return;
  const unique_fd handle = open_directory(directory);
  if (!handle || flock(handle.get(), LOCK_EX | LOCK_NB) != 0) return;
  std::error_code ignored;
  fs::remove_all(directory, ignored);
}

void remove_abandoned_directories() noexcept {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(fs::temp_directory_path(error), error)) {
    if (entry.path().filename().string().starts_with(prefix)) remove_if_abandoned(entry.path());
  }
}

bool is_in_memory(const fs::path& directory) {
  struct statfs status {};
  return statfs(directory.c_str(), &status) == 0 &&
         (status.f_type == TMPFS_MAGIC || status.f_type == RAMFS_MAGIC);
}

}  // namespace lockmark::local
