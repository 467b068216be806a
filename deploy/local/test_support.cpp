#include "deploy/local/test_support.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "deploy/local/process.hpp"

namespace lockmark::local {

bool is_running(pid_t pid) {
  return state_of(pid) != 'Z';
}

bool is_gone(const cluster_info& cluster) {
  for (const server_info& server : cluster.servers) {
    if (is_running(server.pid)) return false;
  }
  return !is_running(cluster.keeper) && !std::filesystem::exists(cluster.directory);
}

orphan start_in_child(const std::string& topology) {
  int ends[2];
  if (pipe(ends) != 0) throw start_error("no pipe");
  const unique_fd in{ends[0]};
  unique_fd out{ends[1]};
  const pid_t pid = fork();
  if (pid == 0) {
    setpgid(0, 0);
    const cluster running = cluster::start(topology);
    const std::string text = to_json(running.info());
    if (write(out.get(), text.data(), text.size()) < 0) _exit(1);
    out.reset();
    for (;;) pause();
  }
  setpgid(pid, pid);
  out.reset();
  std::string text;
  char bytes[4096];
  for (ssize_t size = 0; (size = read(in.get(), bytes, sizeof bytes)) > 0;) {
    text.append(bytes, static_cast<std::size_t>(size));
  }
  return {pid, cluster_from_json(text)};
}

private_tmpdir::private_tmpdir() {
  if (const char* const before = std::getenv("TMPDIR")) before_ = before;
  std::string name = std::filesystem::temp_directory_path() / "lockmark-test-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) {
    throw std::system_error(errno, std::generic_category(), name);
  }
  path_ = name;
  setenv("TMPDIR", name.c_str(), 1);
}

private_tmpdir::~private_tmpdir() {
  if (before_.empty()) {
    unsetenv("TMPDIR");
  } else {
    setenv("TMPDIR", before_.c_str(), 1);
  }
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace lockmark::local
