#include "deploy/local/keeper.hpp"

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
#include <map>
#include <sstream>

#include "deploy/local/directory.hpp"
#include "deploy/local/error.hpp"
#include "deploy/local/record.hpp"

namespace lockmark::local {
namespace {

using namespace std::chrono_literals;

constexpr duration grace = 5s;  // from SIGTERM to SIGKILL
constexpr duration probe_interval = 20ms;
constexpr duration probe_time_limit = 500ms;
constexpr duration forever = 24h;  // one iteration of waiting, not a limit

// Ends any wait when the owner is gone or the keeper was told to stop.
struct stop_requested {};

class keeper {
 public:
  keeper(topology what, options with, unique_fd& control);
  void run();

 private:
  struct server {
    server_spec spec;
    pid_t pid = 0;
    std::string detours{};  // "2888>40001,...": ports to reach its peers by; see link_shim
  };

  void start();
  void ask_for_detours();
  void start_server(server& which);
  void wait_until_ready(const server& which) { wait_for_answer(which, which.spec.ready); }
  void wait_until_joined();
  void wait_for_answer(const server& which, const probe& ask);
  void run_command(const command& what);
  void serve();
  reply obey(const std::string& message);
  void kill_server(server& which, int signal);
  void revive(server& which, bool with_data);
  std::vector<std::string> environment_of(const server& which) const;
  void stop_all() noexcept;
  void wait_for_all(time_point deadline);
  void kill_escaped() noexcept;

  server& find(const std::string& name);
  pid_t launch_in(const std::filesystem::path& folder, const std::filesystem::path& log,
                  const std::vector<std::string>& argv,
                  const std::vector<std::string>& environment = {});
  bool has_ended(pid_t pid) const { return !living_.contains(pid); }
  bool wait_for_end(pid_t pid, time_point deadline);
  std::string pause(duration at_most);
  bool poll_once(duration at_most, bool listen);
  void handle_signals();
  void reap();
  cluster_info describe() const;

  real_clock clock_;
  topology topology_;
  options with_;
  port_source ports_;
  unique_fd& control_;
  unique_fd signals_;
  temporary_directory directory_;
  std::vector<server> servers_;
  std::map<pid_t, int> ended_;    // pid -> status, of children already reaped
  std::map<pid_t, bool> living_;  // children not reaped yet; each leads its process group
  std::string target_;
  bool detached_ = false;
  bool told_to_end_ = false;
};

unique_fd watch_signals() {
  sigset_t watched;
  sigemptyset(&watched);
  for (const int number : {SIGCHLD, SIGTERM, SIGINT}) sigaddset(&watched, number);
  return unique_fd{signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK)};
}

void write_file(const text_file& file) {
  std::ofstream out(file.path);
  out << file.text;
  out.close();
  if (!out) throw start_error(fmt::format("the file {} could not be written", file.path.string()));
}

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

// --- starting ---

void keeper::start() {
  remove_abandoned_directories();
  site where{directory_.path(), ports_};
  where.keeps_data = with_.keeps_data;
  plan planned = topology_.make(where);
  target_ = planned.target;
  for (server_spec& spec : planned.servers) {
    std::filesystem::create_directory(where.folder(spec.name));
    std::for_each(spec.files.begin(), spec.files.end(), write_file);
    if (!with_.clock_shim.empty()) {
      write_file(
          {clock_file(directory_.path(), spec.name), std::string(sizeof(std::int64_t), '\0')});
    }
    std::for_each(spec.prepare.begin(), spec.prepare.end(),
                  [this](const command& step) { run_command(step); });
    servers_.push_back({std::move(spec)});
  }
  if (with_.between) ask_for_detours();
  // All at once: the members of an ensemble only answer when most of them run.
  for (server& each : servers_) start_server(each);
  for (const server& each : servers_) wait_until_ready(each);
  for (const command& step : planned.after_start) run_command(step);
  wait_until_joined();
}

// Asks the owner for the ports by which the servers reach each other.
void keeper::ask_for_detours() {
  std::vector<server_spec> specs;
  for (const server& each : servers_) specs.push_back(each.spec);
  const std::vector<peer_way> ways = peer_ways(specs);
  send_reply(control_, {describe(), {}, {}, ways});
  std::string message;
  while (message.empty()) message = pause(forever);
  std::istringstream words(message);
  std::string verb;
  words >> verb;
  for (const peer_way& way : ways) {
    int port = 0;
    if (verb != "ways" || !(words >> port)) {
      throw start_error(fmt::format("nobody said how {} reaches {}", way.from, way.to));
    }
    std::string& detours = find(way.from).detours;
    detours += fmt::format("{}{}>{}", detours.empty() ? "" : ",", way.port, port);
  }
}

void keeper::start_server(server& which) {
  site where{directory_.path(), ports_};
  which.pid = launch_in(where.folder(which.spec.name), where.log(which.spec.name), which.spec.argv,
                        environment_of(which));
}

std::vector<std::string> keeper::environment_of(const server& which) const {
  std::vector<std::string> shims, all;
  if (!with_.clock_shim.empty()) {
    shims.push_back(with_.clock_shim);
    all.push_back(fmt::format("LOCKMARK_CLOCK_FILE={}",
                              clock_file(directory_.path(), which.spec.name).string()));
  }
  if (!which.detours.empty()) {
    shims.push_back(with_.link_shim);
    all.push_back(fmt::format("LOCKMARK_WAYS={}", which.detours));
  }
  if (!shims.empty()) all.push_back(fmt::format("LD_PRELOAD={}", fmt::join(shims, ":")));
  return all;
}

// Not while one of them is down: the others may be unable to join without it.
void keeper::wait_until_joined() {
  for (const server& each : servers_) {
    if (has_ended(each.pid)) return;
  }
  for (const server& each : servers_) {
    if (each.spec.joined.judge != nullptr) wait_for_answer(each, each.spec.joined);
  }
}

void keeper::wait_for_answer(const server& which, const probe& ask) {
  const auto& spec = which.spec;
  const std::filesystem::path log = site{directory_.path(), ports_}.log(spec.name);
  const time_point deadline = clock_.now() + spec.time_limit;
  while (!answers(ask, spec.port, probe_time_limit)) {
    pause(probe_interval);
    if (has_ended(which.pid)) {
      throw start_error(fmt::format("{} {} before it answered on 127.0.0.1:{}", spec.name,
                                    describe_status(ended_.at(which.pid)), spec.port),
                        tail(log));
    }
    if (clock_.now() > deadline) {
      throw start_error(
          fmt::format(
              "{} did not answer on 127.0.0.1:{} within {} ms", spec.name, spec.port,
              std::chrono::duration_cast<std::chrono::milliseconds>(spec.time_limit).count()),
          tail(log));
    }
  }
}

void keeper::run_command(const command& what) {
  const std::filesystem::path log = directory_.path() / "prepare.log";
  int status = 0;
  for (int tried = 0; tried < what.tries; ++tried) {
    if (tried > 0 && !what.makes.empty()) std::filesystem::remove_all(what.makes);
    const pid_t pid = launch_in(directory_.path(), log, what.argv);
    if (!wait_for_end(pid, clock_.now() + what.time_limit)) {
      throw start_error(fmt::format("could not {}: {} did not end within {} ms", what.purpose,
                                    what.argv[0], what.time_limit / 1ms),
                        tail(log));
    }
    status = ended_.at(pid);
    if (status == 0) return;
  }
  throw start_error(
      fmt::format("could not {}: {} {}", what.purpose, what.argv[0], describe_status(status)),
      tail(log));
}

pid_t keeper::launch_in(const std::filesystem::path& folder, const std::filesystem::path& log,
                        const std::vector<std::string>& argv,
                        const std::vector<std::string>& environment) {
  const pid_t pid = spawn({argv, folder, log, environment});
  living_[pid] = true;
  ended_.erase(pid);
  return pid;
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
    server& which = find(name);
    kill_server(which, SIGKILL);
    start_server(which);
    wait_until_ready(which);
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

void keeper::kill_server(server& which, int signal) {
  if (has_ended(which.pid)) return;
  kill(-which.pid, signal);
  if (signal == SIGKILL) wait_for_end(which.pid, clock_.now() + grace);
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
    kill(-pid, SIGTERM);
    kill(-pid, SIGCONT);  // a stopped process could not obey
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
    std::ifstream children(fmt::format("/proc/self/task/{}/children", getpid()));
    pid_t pid = 0;
    if (!(children >> pid)) return;
    do {
      kill(pid, SIGKILL);
    } while (children >> pid);
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
  setsid();  // a terminal's Ctrl-C and hang-up are for the owner
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
