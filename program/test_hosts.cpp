#include "program/test_hosts.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

namespace lockmark::cli {
namespace {

constexpr int look_every_ms = 20;

[[noreturn]] void fail(const char* what) {
  throw std::runtime_error(fmt::format("{}: {}", what, std::strerror(errno)));
}

// Runs f on a thread of its own, which may change its namespaces.
template <class F>
void apart(F f) {
  std::exception_ptr failure;
  std::thread([&] {
    try {
      f();
    } catch (...) {
      failure = std::current_exception();
    }
  }).join();
  if (failure) std::rethrow_exception(failure);
}

void bring_up_loopback() {
  const unique_fd any{socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  ifreq lo{};
  std::snprintf(lo.ifr_name, sizeof lo.ifr_name, "lo");
  lo.ifr_flags = IFF_UP | IFF_RUNNING;
  if (ioctl(any.get(), SIOCSIFFLAGS, &lo) != 0) fail("no loopback in a new network");
}

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return at;
}

unique_fd tcp() {
  unique_fd made{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  const int yes = 1;
  setsockopt(made.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  return made;
}

bool is_readable(int fd) {
  pollfd watched{fd, POLLIN, 0};
  return poll(&watched, 1, look_every_ms) > 0;
}

bool write_all(int fd, const char* bytes, std::size_t size) {
  while (size > 0) {
    const auto sent = send(fd, bytes, size, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

}  // namespace

// A port of the host, each of whose connections leads to this machine's port of that number.
class test_host::way {
 public:
  way(int network, std::uint16_t port, duration delay, const std::atomic<bool>& vanished)
      : port_(port), delay_(delay), vanished_(vanished) {
    apart([&] {
      if (setns(network, CLONE_NEWNET) != 0) fail("a host's network cannot be entered");
      listening_ = tcp();
      const sockaddr_in at = loopback(port);
      if (bind(listening_.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 ||
          listen(listening_.get(), 128) != 0) {
        fail("a host's port cannot be listened on");
      }
    });
    threads_.emplace_back([this] { accept_all(); });
  }
  ~way() {
    over_ = true;
    while (true) {
      std::thread last;
      {
        const std::lock_guard guard(mutex_);
        if (threads_.empty()) return;
        last = std::move(threads_.back());
        threads_.pop_back();
      }
      last.join();
    }
  }

 private:
  struct pair {
    unique_fd here, there;
  };

  void accept_all() {
    while (!over_) {
      if (!is_readable(listening_.get())) continue;
      auto both = std::make_shared<pair>();
      both->there = unique_fd{accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
      both->here = tcp();
      const int yes = 1;
      setsockopt(both->there.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
      const sockaddr_in at = loopback(port_);
      if (connect(both->here.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0)
        continue;
      const std::lock_guard guard(mutex_);
      threads_.emplace_back([this, both] { pump(*both, both->here.get(), both->there.get()); });
      threads_.emplace_back([this, both] { pump(*both, both->there.get(), both->here.get()); });
    }
  }

  void pump(pair& both, int from, int to) {
    punctual_thread();
    char bytes[65536];
    while (!over_) {
      if (!is_readable(from)) continue;
      if (vanished_) {
        poll(nullptr, 0, look_every_ms);
        continue;
      }
      const auto got = recv(from, bytes, sizeof bytes, 0);
      if (got <= 0) break;
      if (delay_ > duration::zero()) block_until(real_clock{}.now() + delay_);
      if (!write_all(to, bytes, static_cast<std::size_t>(got))) break;
    }
    shutdown(both.here.get(), SHUT_RDWR);
    shutdown(both.there.get(), SHUT_RDWR);
  }

  const std::uint16_t port_;
  const duration delay_;
  const std::atomic<bool>& vanished_;
  std::atomic<bool> over_{false};
  unique_fd listening_;
  std::mutex mutex_;
  std::vector<std::thread> threads_;
};

test_host::test_host(std::chrono::seconds ahead) : ahead_(ahead) {
  apart([this] {
    if (unshare(CLONE_NEWNET) != 0) fail("no network for a host");
    bring_up_loopback();
    // Programs that run there inherit it.
    network_ = unique_fd{open("/proc/thread-self/ns/net", O_RDONLY)};
  });
}

test_host::~test_host() = default;

void test_host::link(std::uint16_t port, duration delay) {
  ways_.push_back(std::make_unique<way>(network_.get(), port, delay, vanished_));
}

std::vector<std::string> test_host::run_there(std::vector<std::string> argv) const {
  const std::string ahead = fmt::format("{}", ahead_.count());
  std::vector<std::string> words{
      "/usr/bin/nsenter", fmt::format("--net=/proc/self/fd/{}", network_.get()),
      "unshare",          "--time",
      "--monotonic",      ahead,
      "--boottime",       ahead};
  words.insert(words.end(), argv.begin(), argv.end());
  return words;
}

int run_tests_on_hosts(int argc, char** argv) {
  if (geteuid() != 0) {
    std::vector<char*> words;
    static char unshare_program[] = "unshare", user[] = "--user", root[] = "--map-root-user";
    for (char* w : {unshare_program, user, root}) words.push_back(w);
    words.insert(words.end(), argv, argv + argc);
    words.push_back(nullptr);
    execvp(words[0], words.data());
    std::perror("unshare");
    return 1;
  }
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}

}  // namespace lockmark::cli
