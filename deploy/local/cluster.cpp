#include "deploy/local/cluster.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "deploy/local/ask.hpp"
#include "deploy/local/directory.hpp"
#include "deploy/local/keeper.hpp"
#include "deploy/local/process.hpp"

namespace lockmark::local {
namespace {

using namespace std::chrono_literals;

// More than the keeper's own two grace periods.
constexpr duration stop_time_limit = 20s;
constexpr std::size_t largest_reply = 256 * 1024;

// Ends a process of a cluster whose keeper has died, and waits for it. Its id may have been reused:
// it is known by its working directory. One without a directory is already dying.
void end_survivor(pid_t pid, const std::filesystem::path& directory) noexcept {
  const unique_fd process = hold_process(pid);
  if (!process) return;
  std::error_code dying;
  const auto place = std::filesystem::read_symlink(fmt::format("/proc/{}/cwd", pid), dying);
  if (!dying && !is_below(place, directory)) return;
  if (!dying) send_signal(process, SIGKILL);
  wait_until_ended(pid, stop_time_limit);
}

// The servers, and processes of theirs (PostgreSQL's, one for each connection), which would go on
// writing to the directory for a while.
void end_survivors(const cluster_info& cluster) noexcept {
  const time_point deadline = real_clock{}.now() + stop_time_limit;
  for (const server_info& server : cluster.servers) end_survivor(server.pid, cluster.directory);
  for (auto left = processes_in(cluster.directory); !left.empty() && real_clock{}.now() < deadline;
       left = processes_in(cluster.directory)) {
    for (const pid_t pid : left) end_survivor(pid, cluster.directory);
  }
}

}  // namespace

struct cluster::state {
  unique_fd control;
  pid_t keeper = 0;
  std::string name;
  cluster_info info;

  std::vector<peer_way> receive();
  void put_between(const go_between& who);
  void request(const std::string& message);
  void stop() noexcept;
};

// A signal with a handler ends the wait: the handler has told the program to end.
std::vector<peer_way> cluster::state::receive() {
  std::string text(largest_reply, '\0');
  const ssize_t size = recv(control.get(), text.data(), text.size(), 0);
  if (size < 0 && errno == EINTR)
    throw start_error(fmt::format("the start of {} was interrupted by a signal", name));
  if (size <= 0) throw start_error(fmt::format("the keeper of {} has died", name));
  text.resize(static_cast<std::size_t>(size));
  reply answer = reply_from_json(text);
  if (!answer.error.empty()) throw start_error(answer.error, answer.log);
  info = std::move(answer.cluster);
  return std::move(answer.ways);
}

// The keeper holds its servers back until it has received the ports between them.
void cluster::state::put_between(const go_between& who) {
  std::string message = "ways";
  for (const int port : who(receive())) message += fmt::format(" {}", port);
  send(control.get(), message.data(), message.size(), MSG_NOSIGNAL);
}

void cluster::state::request(const std::string& message) {
  send(control.get(), message.data(), message.size(), MSG_NOSIGNAL);
  receive();
}

void cluster::state::stop() noexcept {
  if (!control) return;
  // Closing is not enough: a copy of the descriptor in a forked child would keep it open.
  shutdown(control.get(), SHUT_RDWR);
  control.reset();
  if (!wait_until_ended(keeper, stop_time_limit)) {
    ::kill(keeper, SIGKILL);  // the servers die with it
    wait_until_ended(keeper, stop_time_limit);
  }
  while (waitpid(keeper, nullptr, 0) < 0 && errno == EINTR) continue;
  if (info.directory.empty()) return;
  end_survivors(info);
  // The start of another cluster may be removing it already.
  eventually(
      [this] {
        std::error_code ignored;
        remove_if_abandoned(info.directory);
        return !std::filesystem::exists(info.directory, ignored);
      },
      stop_time_limit);
}

cluster::cluster(std::unique_ptr<state> running) : state_(std::move(running)) {}
cluster::cluster(cluster&&) noexcept = default;

cluster& cluster::operator=(cluster&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

cluster::~cluster() {
  stop();
}

cluster cluster::start(std::string_view name, options with) {
  return start(find_topology(name), with);
}

cluster cluster::start(const topology& what, options with) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    throw start_error(fmt::format("no keeper for {}: {}", what.name, std::strerror(errno)));
  }
  unique_fd ours{ends[0]}, keepers{ends[1]};

  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = fork();
  if (pid == 0) run_keeper(what, with, keepers.get());
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) {
    throw start_error(fmt::format("no keeper for {}: {}", what.name, std::strerror(errno)));
  }

  auto running = std::make_unique<state>();
  running->control = std::move(ours);
  running->keeper = pid;
  running->name = what.name;
  keepers.reset();
  cluster result{std::move(running)};  // from here on its destructor cleans up
  if (with.between) result.state_->put_between(with.between);
  result.state_->receive();
  return result;
}

const cluster_info& cluster::info() const {
  return state_->info;
}

void cluster::kill(std::string_view server, int signal) {
  state_->request(fmt::format("kill {} {}", signal, server));
}

void cluster::restart(std::string_view server) {
  state_->request(fmt::format("restart {}", server));
}

void cluster::revive(std::string_view server, bool with_data) {
  state_->request(fmt::format("{} {}", with_data ? "revive" : "revive-empty", server));
}

void cluster::jump_clock(std::string_view server, duration ahead) {
  const std::string file = clock_file(directory(), server).string();
  const unique_fd clock{open(file.c_str(), O_WRONLY | O_CLOEXEC)};
  const std::int64_t ns = ahead.count();
  if (!clock || pwrite(clock.get(), &ns, sizeof ns, 0) != static_cast<ssize_t>(sizeof ns)) {
    throw start_error(
        fmt::format("the clock of {} cannot be moved: {}", server, std::strerror(errno)));
  }
}

void cluster::detach() {
  state_->request("detach");
  state_.reset();
}

void cluster::stop() noexcept {
  if (state_) state_->stop();
}

}  // namespace lockmark::local
