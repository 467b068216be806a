#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#include "deploy/local/error.hpp"
#include "deploy/local/keeper_process.hpp"

namespace lockmark::local {
namespace {

using namespace std::chrono_literals;

constexpr duration grace = 5s;  // from SIGTERM to SIGKILL

// Those that the main thread of a process has started and not reaped.
std::vector<pid_t> children_of(pid_t parent) {
  std::ifstream listed(fmt::format("/proc/{0}/task/{0}/children", parent));
  return {std::istream_iterator<pid_t>{listed}, {}};
}

// Whether all threads of a child stand, or it has ended.
bool has_stopped(pid_t child) {
  siginfo_t seen{};
  const int wanted = WSTOPPED | WEXITED | WNOHANG | WNOWAIT;
  return waitid(P_PID, static_cast<id_t>(child), &seen, wanted) != 0 || seen.si_pid == child;
}

unique_fd watch_signals() {
  sigset_t watched;
  sigemptyset(&watched);
  for (const int number : {SIGCHLD, SIGTERM, SIGINT}) sigaddset(&watched, number);
  return unique_fd{signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK)};
}

}  // namespace

void send_reply(const unique_fd& control, const reply& answer) {
  const std::string text = to_json(answer);
  if (control) send(control.get(), text.data(), text.size(), MSG_NOSIGNAL);
}

keeper::keeper(topology what, options with, unique_fd& control)
    : topology_(std::move(what)),
      with_(std::move(with)),
      ports_(with_.port),
      control_(control),
      signals_(watch_signals()),
      directory_(topology_.name) {}

// Every exit calls stop_all() first: when the owner gets a report, nothing is left running.
void keeper::run() {
  try {
    start();
    send_reply(control_, {describe(), {}, {}});
    serve();
  } catch (const stop_requested&) {
    stop_all();
  } catch (...) {
    stop_all();
    throw;
  }
}

// --- serving ---

void keeper::serve() {
  for (;;) {
    const std::string message = pause(forever);
    if (message.empty()) continue;
    try {
      send_reply(control_, obey(message));
    } catch (const start_error& error) {
      send_reply(control_, {describe(), error.what(), error.log()});
    }
  }
}

reply keeper::obey(const std::string& message) {
  std::istringstream words(message);
  std::string verb, name;
  int signal = 0;
  words >> verb;
  if (verb == "detach") {
    detached_ = true;
    const unique_fd nowhere{open("/dev/null", O_RDWR | O_CLOEXEC)};
    dup2(nowhere.get(), STDERR_FILENO);
  } else if (verb == "kill") {
    words >> signal >> name;
    kill_server(find(name), signal);
  } else if (verb == "restart") {
    words >> name;
    revive(find(name), true);
    wait_until_joined();
  } else if (verb == "revive" || verb == "revive-empty") {
    words >> name;
    revive(find(name), verb == "revive");
  } else {
    throw start_error(fmt::format("the keeper knows no command '{}'", message));
  }
  return {describe(), {}, {}};
}

keeper::server& keeper::find(const std::string& name) {
  for (server& each : servers_) {
    if (each.spec.name == name) return each;
  }
  throw start_error(fmt::format("the local topology {} has no server '{}'", topology_.name, name));
}

// Some servers' processes leave its group (PostgreSQL's, one for each connection), and would go on
// while it is paused, or be in the way of its next start.
void keeper::kill_server(server& which, int signal) {
  if (has_ended(which.pid)) return;
  if (signal == SIGSTOP) return suspend(which);
  const std::vector<pid_t> others =
      signal == SIGTERM ? std::vector<pid_t>{} : children_of(which.pid);
  kill(-which.pid, signal);
  for (const pid_t child : others) kill(child, signal);
  if (signal != SIGKILL) return;
  const time_point deadline = clock_.now() + grace;
  wait_for_end(which.pid, deadline);
  // They have become children of this subreaper.
  for (const pid_t child : others) {
    while (kill(child, 0) == 0 && clock_.now() < deadline) pause(deadline - clock_.now());
  }
}

// A signal takes effect when a process runs next, which may be late on a busy machine. Who makes
// the others stands before they are looked for.
void keeper::suspend(const server& which) {
  const time_point deadline = clock_.now() + grace;
  kill(-which.pid, SIGSTOP);
  wait_until([&] { return has_stopped(which.pid); }, deadline);
  const std::vector<pid_t> others = children_of(which.pid);
  for (const pid_t child : others) kill(child, SIGSTOP);
  const auto stands = [](pid_t pid) { return state_of(pid) == 'T' || state_of(pid) == 'Z'; };
  wait_until([&] { return std::ranges::all_of(others, stands); }, deadline);
}

void keeper::wait_until(const std::function<bool()>& condition, time_point deadline) {
  while (!condition() && clock_.now() < deadline) pause(1ms);
}

void keeper::revive(server& which, bool with_data) {
  kill_server(which, SIGKILL);
  if (!with_data && which.spec.data.empty()) {
    throw start_error(fmt::format("{} cannot come back without its data", which.spec.name));
  }
  for (const std::string& part : which.spec.data) {
    if (with_data) break;
    std::filesystem::remove_all(directory_.path() / which.spec.name / part);
  }
  start_server(which);
  wait_until_ready(which);
}

// --- stopping ---

// Ends every remaining process group, with SIGTERM first, and removes the directory.
void keeper::stop_all() noexcept {
  for (const auto& [pid, lives] : living_) {
    const auto of = std::ranges::find(servers_, pid, &server::pid);
    kill(-pid, of == servers_.end() ? SIGTERM : of->spec.stop_signal);
    kill(-pid, SIGCONT);  // a stopped process could not obey
    for (const pid_t child : children_of(pid)) kill(child, SIGCONT);
  }
  wait_for_all(clock_.now() + grace);
  for (const auto& [pid, lives] : living_) kill(-pid, SIGKILL);
  wait_for_all(clock_.now() + grace);
  kill_escaped();
  directory_.remove();
}

void keeper::wait_for_all(time_point deadline) {
  while (!living_.empty() && clock_.now() < deadline) poll_once(deadline - clock_.now(), false);
}

// Ends processes that left their process group, as daemons do: as orphans they are children of this
// subreaper. Each one's death may add further ones.
void keeper::kill_escaped() noexcept {
  const time_point deadline = clock_.now() + grace;
  while (clock_.now() < deadline) {
    const std::vector<pid_t> children = children_of(getpid());
    if (children.empty()) return;
    for (const pid_t child : children) kill(child, SIGKILL);
    poll_once(deadline - clock_.now(), false);
  }
}

// --- waiting ---

// Waits for a child, the owner or the time-out, whichever comes first; returns the owner's message
// if there is one.
std::string keeper::pause(duration at_most) {
  const bool readable = poll_once(at_most, true);
  if (told_to_end_) throw stop_requested{};
  if (!readable) return {};
  char bytes[2048];
  const ssize_t size = recv(control_.get(), bytes, sizeof bytes, MSG_DONTWAIT);
  if (size > 0) return {bytes, static_cast<std::size_t>(size)};
  if (size < 0 && errno == EAGAIN) return {};
  if (!detached_) throw stop_requested{};
  control_.reset();
  return {};
}

// True when the owner has sent a message or is gone. While stopping it must not listen: a closed
// socket is always readable.
bool keeper::poll_once(duration at_most, bool listen) {
  pollfd watched[] = {{signals_.get(), POLLIN, 0}, {control_.get(), POLLIN, 0}};
  const nfds_t count = listen && control_ ? 2 : 1;
  poll(watched, count, left_ms(clock_.now() + at_most));
  if (watched[0].revents != 0) handle_signals();
  return count == 2 && watched[1].revents != 0;
}

void keeper::handle_signals() {
  signalfd_siginfo arrived{};
  while (read(signals_.get(), &arrived, sizeof arrived) == sizeof arrived) {
    if (arrived.ssi_signo != SIGCHLD) told_to_end_ = true;
  }
  reap();
}

// A child's status is read first, then its group is killed, then it is reaped: until then its id
// cannot be reused. Its orphans become children of this subreaper.
void keeper::reap() {
  siginfo_t ended{};
  while (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid != 0) {
    const pid_t pid = ended.si_pid;
    if (living_.erase(pid) > 0) kill(-pid, SIGKILL);
    int status = 0;
    waitpid(pid, &status, 0);
    ended_[pid] = status;
    ended = {};
  }
}

bool keeper::wait_for_end(pid_t pid, time_point deadline) {
  while (!has_ended(pid)) {
    if (clock_.now() > deadline) return false;
    pause(deadline - clock_.now());
  }
  return true;
}

cluster_info keeper::describe() const {
  cluster_info all{
      topology_.name, target_, directory_.path().string(), is_in_memory(directory_.path()),
      getpid(),       {}};
  for (const server& each : servers_) {
    const std::string log = (directory_.path() / fmt::format("{}.log", each.spec.name)).string();
    all.servers.push_back(
        {each.spec.name, has_ended(each.pid) ? 0 : each.pid, each.spec.port, log});
  }
  return all;
}

// --- becoming a keeper ---

namespace {

// Keeps nothing of the owner but its standard error and the control socket; returns the socket's
// new number.
int leave_owner(int control) {
  constexpr int kept = 3;
  const int nowhere = open("/dev/null", O_RDWR);
  dup2(nowhere, STDIN_FILENO);
  dup2(nowhere, STDOUT_FILENO);
  if (control != kept) dup2(control, kept);
  close_range(kept + 1, ~0U, 0);
  fcntl(kept, F_SETFD, FD_CLOEXEC);
  return kept;
}

}  // namespace

std::filesystem::path clock_file(const std::filesystem::path& cluster, std::string_view server) {
  return cluster / server / "clock";
}

void run_keeper(const topology& what, const options& with, int control) noexcept {
  // A group of its own: a terminal's Ctrl-C and hang-up are for the owner. Not a session: Linux
  // shares the processor between sessions (sched_autogroup), and while clients kept every core
  // busy, a server in a session of its own did not run for up to 2.5 s.
  setpgid(0, 0);
  std::signal(SIGTTOU, SIG_IGN);  // `stty tostop` must not stop who writes in the background
  // Not the owner's name: `pkill -9 lockmark` must spare the process that cleans up.
  prctl(PR_SET_NAME, "lm-keeper");
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::signal(SIGCHLD, SIG_DFL);  // if the owner ignores it, the servers' statuses would be lost
  umask(077);
  unique_fd owner{leave_owner(control)};
  try {
    keeper{what, with, owner}.run();
  } catch (const start_error& error) {
    send_reply(owner, {{}, error.what(), error.log()});
  } catch (const std::exception& error) {
    send_reply(owner, {{}, fmt::format("{} could not start: {}", what.name, error.what()), {}});
  }
  _exit(0);  // must not run the owner's destructors or exit handlers
}

}  // namespace lockmark::local
