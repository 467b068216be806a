// No reply of a ZooKeeper server can make us crash, hang or use much memory. The server here is a
// real socket that sends what each test specifies.
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <fstream>
#include <functional>
#include <thread>

#include "drivers/zookeeper/handle.hpp"
#include "harness/unique_fd.hpp"

namespace lockmark::zookeeper {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

std::string big_endian(std::uint64_t value, int bytes) {
  std::string all;
  for (int i = bytes - 1; i >= 0; --i) all += static_cast<char>(value >> (8 * i) & 0xffU);
  return all;
}
std::string framed(const std::string& bytes) {
  return big_endian(bytes.size(), 4) + bytes;
}
std::string answer_to(const std::string& request, const std::string& rest) {
  return framed(request + std::string(8, '\0') + big_endian(0, 4) + rest);
}

// The reply to a request, which is identified by its four bytes.
struct says {
  std::function<std::string(const std::string& request)> answer;
  std::size_t piece = 0;  // bytes sent at a time; 0: all at once
  int pause_ms = 0;       // between the pieces
  std::uint32_t timeout_ms = 10'000;
};

class fake_zookeeper {
 public:
  explicit fake_zookeeper(says what)
      : what_(std::move(what)),
        stop_(eventfd(0, EFD_CLOEXEC)),
        listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (bind(listener_.get(), generic, size) != 0 || listen(listener_.get(), 16) != 0 ||
        getsockname(listener_.get(), generic, &size) != 0) {
      throw std::runtime_error("no port for a fake server");
    }
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] {
      while (ready(listener_.get(), POLLIN)) {
        const unique_fd client{accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
        serve(client.get());
      }
    });
  }
  ~fake_zookeeper() {
    eventfd_write(stop_.get(), 1);
    thread_.join();
  }
  fake_zookeeper(const fake_zookeeper&) = delete;
  fake_zookeeper& operator=(const fake_zookeeper&) = delete;
  std::string host() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  // False when the server has to stop.
  bool ready(int fd, short events, int limit_ms = -1) const {
    pollfd both[] = {{fd, events, 0}, {stop_.get(), POLLIN, 0}};
    while (poll(both, 2, limit_ms) < 0) {
    }
    return both[1].revents == 0;
  }
  bool read(int fd, std::string& into, std::size_t bytes) const {
    into.clear();
    while (into.size() < bytes) {
      char some[4096];
      if (!ready(fd, POLLIN)) return false;
      const ssize_t n = recv(fd, some, std::min(sizeof some, bytes - into.size()), 0);
      if (n <= 0) return false;
      into.append(some, static_cast<std::size_t>(n));
    }
    return true;
  }
  bool read_frame(int fd, std::string& into) const {
    std::string length;
    if (!read(fd, length, 4)) return false;
    return read(fd, into, static_cast<std::size_t>(frame_length(length).value_or(4)) - 4);
  }
  bool send(int fd, std::string_view bytes, std::size_t piece) const {
    while (!bytes.empty()) {
      if (!ready(fd, POLLOUT)) return false;
      const std::string_view now = bytes.substr(0, piece == 0 ? bytes.size() : piece);
      const ssize_t n = ::send(fd, now.data(), now.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (n < 0 && errno != EAGAIN) return false;
      if (n > 0) bytes.remove_prefix(static_cast<std::size_t>(n));
      if (what_.pause_ms > 0 && !ready(-1, 0, what_.pause_ms)) return false;
    }
    return true;
  }
  void serve(int fd) const {
    std::string request;
    const std::string welcome =
        framed(big_endian(0, 4) + big_endian(what_.timeout_ms, 4) + big_endian(7, 8) +
               framed(std::string(16, 'p')) + std::string(1, '\0'));
    if (!read_frame(fd, request) || !send(fd, welcome, 0)) return;
    const std::string close = big_endian(0xfffffff5, 4);  // -11
    while (read_frame(fd, request) && request.substr(4, 4) != close &&
           send(fd, what_.answer(request.substr(0, 4)), what_.piece)) {
    }
  }

  says what_;
  unique_fd stop_;
  unique_fd listener_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

struct end {
  reply said;
  std::string sentence;
  duration took{};
};

// Requests the children of a node, once.
task<void> ask(loop& l, std::string host, duration within, end& e) {
  scope tasks{l};
  const auto zk = handle::open(l, tasks, {std::move(host), 10s, "", ""});
  const time_point start = l.now();
  try {
    const bool connected = co_await zk->connected_by(l.now() + 20s);
    EXPECT_TRUE(connected);
    e.said = co_await zk->children("/a", nullptr, l.now() + within);
  } catch (const no_server& refused) {
    e.sentence = refused.what();
  }
  e.took = l.now() - start;
  zk->close();
  co_await tasks.join();
}

end children_of(const fake_zookeeper& peer, duration within = 20s) {
  const real_clock clock;
  loop l{clock};
  end e;
  run_to_end(l, ask(l, peer.host(), within, e));
  return e;
}

std::string names(const std::vector<std::string>& all) {
  std::string bytes = big_endian(all.size(), 4);
  for (const std::string& name : all) bytes += framed(name);
  return bytes;
}

// Whole, and in pieces that end anywhere: within the length, a number, a name.
TEST(an_honest_zookeeper, is_understood) {
  for (const std::size_t piece : {0U, 1U, 3U, 30U}) {
    const fake_zookeeper peer{{.answer =
                                   [](const std::string& request) {
                                     return answer_to(request, names({"first", "", "third"}));
                                   },
                               .piece = piece,
                               .pause_ms = piece == 0 ? 0 : 1}};
    const end e = children_of(peer);
    EXPECT_EQ(e.sentence, "");
    EXPECT_EQ(e.said.ended, status::ok) << piece;
    EXPECT_THAT(e.said.names, testing::ElementsAre("first", "", "third"));
  }
}

// Nearly the largest message allowed, in whatever pieces the network makes of it.
TEST(an_honest_zookeeper, may_have_much_to_say) {
  const std::vector<std::string> crowd(10'000, std::string(96, 'n'));
  const fake_zookeeper peer{
      {.answer = [&](const std::string& request) { return answer_to(request, names(crowd)); }}};
  const end e = children_of(peer);
  EXPECT_EQ(e.sentence, "");
  EXPECT_EQ(e.said.names.size(), crowd.size());
}

// The process's peak memory since the last call, in bytes.
std::size_t peak_memory() {
  std::ifstream status_of_process{"/proc/self/status"};
  std::string word;
  std::size_t kilobytes = 0;
  while (status_of_process >> word) {
    if (word == "VmHWM:") status_of_process >> kilobytes;
  }
  std::ofstream{"/proc/self/clear_refs"} << "5";
  return kilobytes << 10;
}

// Each invalid message yields one sentence with the server's name, at once and with little memory.
TEST(a_lying_zookeeper, is_not_believed) {
  const std::string much(std::size_t{4} << 20, 'x');
  const std::pair<const char*, std::function<std::string(const std::string&)>> lies[] = {
      {"two billion bytes", [&](const auto&) { return big_endian(2'000'000'000, 4) + much; }},
      {"fewer than none", [](const auto&) { return big_endian(0xfffffff0, 4); }},
      {"two billion children",
       [](const auto& request) {
         return answer_to(request, big_endian(0x7fffffff, 4) + framed("a"));
       }},
      {"a name beyond its end",
       [](const auto& request) { return answer_to(request, big_endian(1, 4) + big_endian(9, 4)); }},
      {"nothing behind the header", [](const auto& request) { return answer_to(request, ""); }},
      {"less than a header", [](const auto& request) { return framed(request); }},
      {"an answer, and one that nobody asked for",
       [](const auto& request) {
         return answer_to(request, "") + answer_to(request, names({"a"}));
       }},
      {"half a notification",
       [](const auto&) { return answer_to(big_endian(0xffffffff, 4), big_endian(1, 4)); }},
  };
  for (const auto& [name, answer] : lies) {
    const fake_zookeeper peer{{.answer = answer}};
    const std::size_t before = peak_memory();
    const end e = children_of(peer);
    EXPECT_THAT(e.sentence, AllOf(HasSubstr("zookeeper://127.0.0.1:"),
                                  HasSubstr("said what no ZooKeeper server says")))
        << name;
    EXPECT_LT(e.took, 5s) << name;
    EXPECT_LT(peak_memory(), before + (std::size_t{32} << 20)) << name;
  }
}

// A trickling reply is awaited until the deadline and no longer.
TEST(a_slow_zookeeper, does_not_put_off_deadlines) {
  const fake_zookeeper peer{{.answer =
                                 [](const std::string& request) {
                                   return answer_to(request, names({std::string(4000, 'n')}));
                                 },
                             .piece = 1,
                             .pause_ms = 2}};
  const end e = children_of(peer, 150ms);
  EXPECT_EQ(e.said.ended, status::silent) << e.sentence;
  EXPECT_LT(e.took, 3s) << "a byte every 2 ms is 8 s";
}

// A session with a timeout of zero would be pinged without pause.
TEST(a_lying_zookeeper, cannot_end_sessions_before_they_began) {
  const fake_zookeeper peer{
      {.answer = [](const std::string&) { return std::string{}; }, .timeout_ms = 0}};
  const end e = children_of(peer);
  EXPECT_THAT(e.sentence, HasSubstr("a session that ends at once"));
}

}  // namespace
}  // namespace lockmark::zookeeper
