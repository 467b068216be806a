#include "deploy/local/registry.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "deploy/local/directory.hpp"
#include "deploy/local/process.hpp"
#include "harness/base/files.hpp"

namespace lockmark::local {
namespace {

namespace fs = std::filesystem;

constexpr duration down_time_limit = std::chrono::seconds{20};

// Never readable by others: the target may hold a password.
void write_file(const fs::path& file, const std::string& text) {
  try {
    write_whole_file(file, text);
  } catch (const file_error& e) {
    throw start_error(fmt::format("the file {}", e.what()));
  }
}

// Whether the process runs and is a child of that keeper; ids are reused, such pairs hardly ever.
bool is_child_of(pid_t pid, pid_t keeper) {
  const std::string stat = readable_text(fmt::format("/proc/{}/stat", pid));
  const std::size_t name_end = stat.rfind(") ");
  if (name_end == std::string::npos) return false;
  const char state = stat[name_end + 2];
  return state != 'Z' && std::atoi(stat.c_str() + name_end + 4) == keeper;
}

void stop_keeper(const cluster_info& cluster) {
  const unique_fd keeper = hold_process(cluster.keeper);
  // Checked while holding the process: the lock proves that the id is still the keeper's.
  if (keeper && is_inhabited(cluster.directory)) {
    send_signal(keeper, SIGTERM);
    if (!wait_until_ended(cluster.keeper, down_time_limit)) {
      throw start_error(fmt::format("{} did not stop within {} s; its keeper is process {}",
                                    cluster.topology, down_time_limit / std::chrono::seconds{1},
                                    cluster.keeper));
    }
  }
  remove_if_abandoned(cluster.directory);
}

}  // namespace

fs::path registry::default_directory() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && *runtime == '/') return fs::path{runtime} / "lockmark";
  return fmt::format("/tmp/lockmark-{}", geteuid());
}

registry::registry(fs::path state_directory) : directory_(std::move(state_directory)) {
  struct stat status {};
  if (mkdir(directory_.c_str(), 0700) != 0 && errno != EEXIST) {
    throw start_error(fmt::format("the directory {} could not be made: {}", directory_.string(),
                                  std::strerror(errno)));
  }
  if (lstat(directory_.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) ||
      status.st_uid != geteuid() || (status.st_mode & 077) != 0) {
    throw start_error(fmt::format("{} must be a directory that only its owner, this user, can open",
                                  directory_.string()));
  }
}

cluster_info registry::up(std::string_view name, options with) {
  const unique_fd held = lock();
  const topology what = find_topology(name);
  for (const cluster_info& running : living()) {
    if (running.topology == name) {
      throw start_error(fmt::format("{} is already up at {}; take it down first, or use it", name,
                                    running.target));
    }
  }
  cluster started = cluster::start(what, with);
  cluster_info info = started.info();
  write_file(file(name), to_json(info));
  started.detach();
  return info;
}

std::vector<cluster_info> registry::down(std::string_view name) {
  const unique_fd held = lock();
  std::vector<cluster_info> stopped = living();
  if (!name.empty()) {
    std::erase_if(stopped, [&](const cluster_info& each) { return each.topology != name; });
    if (stopped.empty()) throw start_error(fmt::format("{} is not up", name));
  }
  for (const cluster_info& each : stopped) {
    stop_keeper(each);
    fs::remove(file(each.topology));
  }
  return stopped;
}

std::vector<cluster_info> registry::status() {
  const unique_fd held = lock();
  return living();
}

std::vector<cluster_info> registry::living() {
  std::vector<cluster_info> found;
  std::vector<fs::path> files;
  for (const auto& each : fs::directory_iterator(directory_)) {
    if (each.path().extension() == ".json") files.push_back(each.path());
  }
  std::ranges::sort(files);
  for (const fs::path& record : files) {
    try {
      cluster_info cluster = cluster_from_json(readable_text(record));
      if (is_inhabited(cluster.directory)) {
        for (server_info& server : cluster.servers) {
          if (!is_child_of(server.pid, cluster.keeper)) server.pid = 0;
        }
        found.push_back(std::move(cluster));
        continue;
      }
      remove_if_abandoned(cluster.directory);
    } catch (const std::runtime_error&) {
      // Not a record: it yields no information and no process to stop.
    }
    fs::remove(record);
  }
  return found;
}

fs::path registry::file(std::string_view topology) const {
  return directory_ / fmt::format("{}.json", topology);
}

// One command at a time; held until the descriptor is closed.
unique_fd registry::lock() const {
  const fs::path path = directory_ / "lock";
  unique_fd handle{open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
  if (!handle || flock(handle.get(), LOCK_EX) != 0) {
    throw start_error(
        fmt::format("{} could not be locked: {}", path.string(), std::strerror(errno)));
  }
  return handle;
}

}  // namespace lockmark::local
