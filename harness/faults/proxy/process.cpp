#include "harness/faults/proxy/process.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "harness/async/signal.hpp"
#include "harness/unique_fd.hpp"

extern char** environ;  // NOLINT: POSIX has no header for it

namespace lockmark::faults {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

constexpr duration answer_within = 5s;

// The child has the other end of `control` as standard input and output, and our standard error.
pid_t spawn(const std::vector<std::string>& argv, int its_end) {
  std::vector<std::string> words = argv;
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, its_end, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, its_end, STDOUT_FILENO);
  pid_t pid = -1;
  const int error =
      posix_spawn(&pid, words.at(0).c_str(), &files, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) {
    throw proxy_error(fmt::format("the proxies could not be started: {}", std::strerror(error)));
  }
  return pid;
}

}  // namespace

// A separate thread reads the process's output and wakes each waiter on the waiter's own loop.
struct proxy_process::state {
  // Everything but `wake` is guarded by `lock`; `wake` belongs to the thread of `on`.
  struct waiter {
    std::uint64_t id = 0;
    loop* on = nullptr;  // none: a thread that blocks on `answered`
    signal* wake = nullptr;
    json answer;                       // null: none yet
    std::vector<std::size_t> links{};  // those on which a hit is awaited
    std::ptrdiff_t hit = -1;
  };
  using waiter_ptr = std::shared_ptr<waiter>;

  explicit state(unique_fd end) : control(std::move(end)), reader([this] { read_lines(); }) {}
  ~state() {
    shutdown(control.get(), SHUT_RDWR);
    reader.join();
  }

  waiter_ptr say(json command, loop* on, signal* wake);
  task<json> ask(loop& l, json command);
  json ask_and_block(json command);
  void read_lines();
  void take(const json& line);
  void died();
  static void wake_up(const waiter_ptr& w);
  static json checked(const json& answer);

  unique_fd control;
  std::mutex lock;
  std::condition_variable answered;
  std::map<std::uint64_t, waiter_ptr> asked;
  std::vector<waiter_ptr> awaiting;
  std::uint64_t last_id = 0;
  bool dead = false;
  std::thread reader;  // last: it uses the others
};

proxy_process::state::waiter_ptr proxy_process::state::say(json command, loop* on, signal* wake) {
  const auto w = std::make_shared<waiter>();
  w->on = on;
  w->wake = wake;
  const std::lock_guard guard(lock);
  if (dead) throw proxy_error("the proxies have died");
  command["id"] = w->id = ++last_id;
  const std::string text = command.dump() + "\n";
  const ssize_t size = send(control.get(), text.data(), text.size(), MSG_NOSIGNAL);
  // A caller that gets an error does not wait, and must not be woken.
  if (size != static_cast<ssize_t>(text.size())) throw proxy_error("the proxies have died");
  asked[w->id] = w;
  return w;
}

task<json> proxy_process::state::ask(loop& l, json command) {
  signal wake{l};
  const waiter_ptr w = say(std::move(command), &l, &wake);
  const bool came = co_await wake.wait_until(l.now() + answer_within);
  w->wake = nullptr;
  const std::lock_guard guard(lock);
  asked.erase(w->id);  // the loop must not be woken after this
  if (!came) throw proxy_error("the proxies do not answer");
  json answer = checked(w->answer);
  co_return answer;
}

json proxy_process::state::ask_and_block(json command) {
  const waiter_ptr w = say(std::move(command), nullptr, nullptr);
  std::unique_lock guard(lock);
  const bool came = answered.wait_for(guard, answer_within, [&] { return !w->answer.is_null(); });
  if (!came) throw proxy_error("the proxies do not answer");
  return checked(w->answer);
}

json proxy_process::state::checked(const json& answer) {
  const auto error = answer.find("error");
  if (error != answer.end()) throw proxy_error(error->get<std::string>());
  return answer;
}

void proxy_process::state::read_lines() {
  std::string unread;
  std::array<char, 4096> room;
  for (;;) {
    const ssize_t size = recv(control.get(), room.data(), room.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return died();
    unread.append(room.data(), static_cast<std::size_t>(size));
    for (auto end = unread.find('\n'); end != unread.npos; end = unread.find('\n')) {
      const json line = json::parse(unread.substr(0, end), nullptr, false);
      unread.erase(0, end + 1);
      if (line.is_object()) take(line);
    }
  }
}

void proxy_process::state::take(const json& line) {
  const std::lock_guard guard(lock);
  if (line.contains("hit")) {
    const std::size_t link = line["hit"];
    for (const waiter_ptr& w : awaiting) {
      if (std::ranges::find(w->links, link) == w->links.end() || w->hit >= 0) continue;
      w->hit = static_cast<std::ptrdiff_t>(link);
      return wake_up(w);
    }
    return;
  }
  const auto found = asked.find(line.value("id", std::uint64_t{0}));
  if (found == asked.end()) return;
  found->second->answer = line;
  wake_up(found->second);
  asked.erase(found);
  answered.notify_all();
}

void proxy_process::state::died() {
  const std::lock_guard guard(lock);
  dead = true;
  for (const auto& [id, w] : asked) {
    w->answer = {{"error", "the proxies have died"}};
    wake_up(w);
  }
  asked.clear();
  for (const waiter_ptr& w : awaiting) wake_up(w);
  answered.notify_all();
}

void proxy_process::state::wake_up(const waiter_ptr& w) {
  if (w->on == nullptr) return;
  w->on->post([w] {
    if (w->wake != nullptr) w->wake->set();
  });
}

proxy_process::proxy_process(const std::vector<std::string>& argv) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw proxy_error(fmt::format("the proxies could not be started: {}", std::strerror(errno)));
  }
  unique_fd ours{ends[0]};
  const unique_fd its{ends[1]};
  pid_ = spawn(argv, its.get());
  state_ = std::make_unique<state>(std::move(ours));
}

proxy_process::~proxy_process() {
  state_.reset();
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
}

bool proxy_process::lives() const {
  const std::lock_guard guard(state_->lock);
  return !state_->dead;
}

proxied proxy_process::open(const config::host_port& server, std::uint16_t listen_on,
                            const link_latency& latency) {
  const json answer = state_->ask_and_block({{"do", "open"},
                                             {"host", server.host},
                                             {"port", server.port},
                                             {"listen", listen_on},
                                             {"by_ns", latency.least.count()},
                                             {"jitter_ns", latency.jitter.count()}});
  return {answer.at("link").get<std::size_t>(), answer.at("port").get<std::uint16_t>()};
}

task<void> proxy_process::set(loop& l, link_list links, link_mode mode, duration by) {
  json command{{"do", "set"},
               {"links", links},
               {"mode", link_mode_names[static_cast<std::size_t>(mode)]},
               {"by_ns", by.count()}};
  task<json> answer = state_->ask(l, std::move(command));
  co_await std::move(answer);
}

task<void> proxy_process::go(loop& l, link_list links) {
  json command{{"do", "go"}, {"links", links}};
  task<json> answer = state_->ask(l, std::move(command));
  co_await std::move(answer);
}

task<std::ptrdiff_t> proxy_process::await(loop& l, link_list links, std::string word,
                                          std::uint64_t nth, time_point deadline,
                                          std::string answer_holds) {
  signal wake{l};
  const auto w = std::make_shared<state::waiter>();
  w->on = &l;
  w->wake = &wake;
  w->links = links;
  {
    const std::lock_guard guard(state_->lock);
    state_->awaiting.push_back(w);
  }
  json command{
      {"do", "await"}, {"links", links}, {"word", word}, {"nth", nth}, {"answer", answer_holds}};
  std::exception_ptr failure;
  try {
    task<json> answer = state_->ask(l, std::move(command));
    co_await std::move(answer);
    co_await wake.wait_until(deadline);
  } catch (...) {
    failure = std::current_exception();
  }
  w->wake = nullptr;
  {
    const std::lock_guard guard(state_->lock);
    std::erase(state_->awaiting, w);
  }
  if (failure) std::rethrow_exception(failure);
  std::erase(links, static_cast<std::size_t>(w->hit));
  if (!links.empty()) {
    task<void> others = go(l, std::move(links));
    co_await std::move(others);
  }
  co_return w->hit;
}

// Runs on the thread of the waiting loop, so `wake` may be touched.
void proxy_process::stop_waiting() noexcept {
  const std::lock_guard guard(state_->lock);
  for (const auto& w : state_->awaiting) {
    if (w->wake != nullptr) w->wake->set();
  }
}

}  // namespace lockmark::faults
