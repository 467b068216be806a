#include "deploy/local/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "deploy/local/error.hpp"
#include "harness/base/files.hpp"

extern "C" {  // missing in the header of glibc 2.36
#include <sys/pidfd.h>
}

namespace lockmark::local {
namespace {

// Enough for 10,000 Redis clients or 2,000 MariaDB connections with their tables. Not simply the
// hard limit: containers set it to a thousand million, and some servers allocate that many entries.
constexpr rlim_t open_files_wanted = 65'536;

void raise_open_files() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = std::max(limit.rlim_cur, std::min(limit.rlim_max, open_files_wanted));
  setrlimit(RLIMIT_NOFILE, &limit);
}

[[noreturn]] void become(const launch& what, std::vector<char*>& argv, pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);  // the parent died before prctl took effect
  restore_signals();
  raise_open_files();
  umask(077);
  const int in = open("/dev/null", O_RDONLY);
  const int out = open(what.log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (in < 0 || out < 0) _exit(127);
  dup2(in, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(out, STDERR_FILENO);
  for (const std::string& each : what.environment) putenv(const_cast<char*>(each.c_str()));
  if (chdir(what.working_directory.c_str()) == 0) {
    // A server inherits only the three standard streams, whatever else is open.
    close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
    execv(argv[0], argv.data());
  }
  dprintf(STDERR_FILENO, "cannot execute %s: %s\n", argv[0], std::strerror(errno));
  _exit(127);
}

// Debian keeps the programs of PostgreSQL apart by version; the newest comes first.
std::string versioned_folders() {
  std::vector<std::pair<int, std::string>> found;
  std::error_code none;
  for (const auto& each : std::filesystem::directory_iterator("/usr/lib/postgresql", none)) {
    const std::string version = each.path().filename().string();
    found.emplace_back(std::atoi(version.c_str()), (each.path() / "bin").string());
  }
  std::ranges::sort(found, std::ranges::greater{});
  std::string all;
  for (const auto& [version, folder] : found) all += fmt::format(":{}", folder);
  return all;
}

}  // namespace

pid_t spawn(const launch& what) {
  std::vector<std::string> words = what.argv;
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) {
    throw start_error(fmt::format("no process for {}: {}", words[0], std::strerror(errno)));
  }
  if (pid == 0) become(what, argv, parent);
  setpgid(pid, pid);  // also here, so that the group exists whichever side runs first
  return pid;
}

std::string find_program(std::string_view name, std::string_view debian_package) {
  const char* path = std::getenv("PATH");
  const std::string folders = fmt::format("{}:/usr/local/sbin:/usr/sbin:/sbin{}",
                                          path == nullptr ? "" : path, versioned_folders());
  for (std::size_t begin = 0; begin <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', begin), folders.size());
    const std::string folder = folders.substr(begin, end - begin);
    begin = end + 1;
    const std::string program = fmt::format("{}/{}", folder, name);
    if (folder.starts_with('/') && access(program.c_str(), X_OK) == 0) return program;
  }
  throw start_error(fmt::format(
      "the program {} was found neither in PATH nor in /usr/sbin; install the Debian package {}",
      name, debian_package));
}

std::string need_file(std::string_view path, std::string_view debian_package) {
  std::string file{path};
  if (access(file.c_str(), R_OK) == 0) return file;
  throw start_error(
      fmt::format("the file {} is missing; install the Debian package {}", path, debian_package));
}

std::string tail(const std::filesystem::path& file, int lines) {
  constexpr std::streamoff enough_bytes = 64 * 1024;
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  if (!in) return {};
  in.seekg(std::max<std::streamoff>(0, in.tellg() - enough_bytes));
  std::string text{std::istreambuf_iterator<char>(in), {}};
  while (text.ends_with('\n')) text.pop_back();
  std::size_t begin = text.size();
  for (int line = 0; line < lines && begin != std::string::npos && begin > 0; ++line) {
    begin = text.rfind('\n', begin - 1);
  }
  return begin == std::string::npos || begin == 0 ? text : text.substr(begin + 1);
}

unique_fd hold_process(pid_t pid) {
  return unique_fd{pidfd_open(pid, 0)};
}

void send_signal(const unique_fd& process, int signal) {
  pidfd_send_signal(process.get(), signal, nullptr, 0);
}

char state_of(pid_t pid) {
  const std::string text = readable_text(fmt::format("/proc/{}/stat", pid));
  const std::size_t name_end = text.rfind(") ");
  return name_end == std::string::npos ? 'Z' : text[name_end + 2];
}

bool is_below(const std::filesystem::path& place, const std::filesystem::path& directory) {
  return place == directory || place.string().starts_with(directory.string() + '/');
}

std::vector<pid_t> processes_in(const std::filesystem::path& directory) {
  std::vector<pid_t> found;
  std::error_code ended;
  for (const auto& each : std::filesystem::directory_iterator("/proc", ended)) {
    const pid_t pid = std::atoi(each.path().filename().c_str());
    if (pid == 0) continue;
    const auto place = std::filesystem::read_symlink(each.path() / "cwd", ended);
    if (!ended && is_below(place, directory)) found.push_back(pid);
  }
  return found;
}

bool wait_until_ended(pid_t pid, duration time_limit) {
  const unique_fd process = hold_process(pid);
  if (!process) return errno == ESRCH;
  const time_point deadline = real_clock{}.now() + time_limit;
  pollfd watched{process.get(), POLLIN, 0};
  for (;;) {
    const int happened = poll(&watched, 1, left_ms(deadline));
    if (happened > 0) return true;
    if (happened == 0) return false;
  }
}

int left_ms(time_point deadline) {
  using std::chrono::milliseconds;
  const auto left = std::chrono::ceil<milliseconds>(deadline - real_clock{}.now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000'000));
}

}  // namespace lockmark::local
