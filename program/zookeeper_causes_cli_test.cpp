// Runs whose ZooKeeper is tampered with: the chroot is deleted, sessions are closed from outside.
// Neither ends a run: nodes are created again, sessions opened again, and lost holds are counted.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <regex>

#include "deploy/local/cluster.hpp"
#include "deploy/local/test_support.hpp"
#include "drivers/zookeeper/handle.hpp"
#include "drivers/zookeeper/tree.hpp"
#include "harness/unique_fd.hpp"
#include "program/test_servers.hpp"

namespace lockmark::cli {
namespace {

using namespace std::chrono_literals;
using testing::AnyOf;
using testing::Each;
using testing::IsEmpty;
using testing::Not;
namespace fs = std::filesystem;
namespace zk = lockmark::zookeeper;

// Started by the first test, stopped at the end of the program.
const local::server_info& zookeeper_server() {
  static const auto one = local::cluster::start("zookeeper");
  return one.servers()[0];
}

// Sends, and returns the reply once it has the given size or the server has closed.
class raw_connection {
 public:
  raw_connection() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(zookeeper_server().port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  void send(std::string_view bytes) const {
    EXPECT_EQ(::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  std::string receive(std::size_t bytes) const {
    std::string all;
    std::array<char, 4096> some;
    while (all.size() < bytes) {
      const ssize_t n =
          recv(socket_.get(), some.data(), std::min(some.size(), bytes - all.size()), 0);
      if (n <= 0) break;
      all.append(some.data(), static_cast<std::size_t>(n));
    }
    return all;
  }

 private:
  unique_fd socket_;
};

std::string big_endian(std::uint64_t value, int bytes) {
  std::string all;
  for (int i = bytes - 1; i >= 0; --i) all += static_cast<char>(value >> (8 * i) & 0xffU);
  return all;
}

// The server derives it from the session's number: java.util.Random, seeded by it and a constant.
std::string password_of(std::uint64_t session) {
  constexpr std::uint64_t mask = (1ULL << 48U) - 1;
  constexpr std::uint64_t factor = 0x5DEECE66DULL;
  std::uint64_t state = ((session ^ 0xB3415C00ULL) ^ factor) & mask;
  std::string all;
  while (all.size() < 16) {
    state = (state * factor + 0xB) & mask;
    const auto word = static_cast<std::uint32_t>(state >> 16U);
    for (int i = 0; i < 4; ++i) all += static_cast<char>(word >> (8 * i) & 0xffU);
  }
  return all;
}

// Takes the session over and closes it. Its owner may take it back meanwhile, so this repeats until
// the server no longer knows it.
void close_session(std::uint64_t session) {
  const std::string hello = big_endian(0, 4) + big_endian(0, 8) + big_endian(10'000, 4) +
                            big_endian(session, 8) + big_endian(16, 4) + password_of(session) +
                            std::string(1, '\0');
  constexpr std::uint64_t close = 0xFFFFFFF5;  // -11
  const std::string goodbye = big_endian(8, 4) + big_endian(1, 4) + big_endian(close, 4);
  const auto is_unknown = [&] {
    const raw_connection other;
    other.send(big_endian(hello.size(), 4) + hello + goodbye);
    const std::string welcome = other.receive(41);
    return welcome.size() == 41 && welcome.substr(12, 8) == big_endian(0, 8);
  };
  EXPECT_TRUE(local::eventually(is_unknown)) << "session " << session << " does not end";
}

std::vector<std::uint64_t> sessions() {
  const raw_connection asking;
  asking.send("cons");
  const std::string told = asking.receive(1 << 20);
  const std::regex number("sid=0x([0-9a-f]+)");
  std::vector<std::uint64_t> all;
  for (std::sregex_iterator i(told.begin(), told.end(), number), end; i != end; ++i) {
    all.push_back(std::stoull((*i)[1], nullptr, 16));
  }
  return all;
}

// An action in a session of the test's own.
using deed = std::function<task<void>(loop&, std::shared_ptr<zk::handle>)>;

task<void> in_a_session(loop& l, const deed& what) {
  scope tasks{l};
  const auto session = zk::handle::open(
      l, tasks, {fmt::format("127.0.0.1:{}", zookeeper_server().port), 10s, "", ""});
  const bool connected = co_await session->connected_by(l.now() + 10s);
  EXPECT_TRUE(connected);
  co_await what(l, session);
  session->close();
  co_await tasks.join();
}

void as_another(const deed& what) {
  const real_clock clock;
  loop l{clock};
  run_to_end(l, in_a_session(l, what));
}

struct meddled : public testing::TestWithParam<const char*> {
  meddled() {
    static int number = 0;
    chroot = fmt::format("/apart{}", ++number);
  }

  // Starts a run, and returns when it has been measuring for a second.
  std::unique_ptr<program> start() {
    const fs::path file = dir / "job.yaml";
    std::ofstream(file) << "load: {instances: 2, clients: 2}\nkeys: own\nhold: 20ms\nwait: 2s\n"
                        << "warmup: 0s\nfloor: 0s\ncommand_timeout: 2s\nsession_timeout: 4s\n"
                        << "stop: {duration: 5s}\n"
                        << GetParam();
    const std::string url =
        fmt::format("zookeeper://127.0.0.1:{}{}", zookeeper_server().port, chroot);
    auto p = std::make_unique<program>(
        lockmark({"run", file.string(), "--on", url, "--out", runs.string()}), dir.path());
    EXPECT_TRUE(p->says("measuring", 2)) << p->err();
    return p;
  }
  nlohmann::json told() { return read_json(only_folder(runs) / "run.json"); }

  void expect_went_on(program& p) {
    const ended e = p.wait(60s);
    EXPECT_THAT(e.status, AnyOf(0, 3)) << e.out << e.err;
    EXPECT_EQ(told()["run"]["status"], "complete");
    EXPECT_EQ(told()["verdict"]["violations"], 0);
    std::vector<std::string> parts;
    for (const auto& f : fs::directory_iterator(only_folder(runs))) {
      if (f.path().extension() == ".part") parts.push_back(f.path());
    }
    EXPECT_THAT(parts, IsEmpty());
    as_another([this](loop& l, std::shared_ptr<zk::handle> session) -> task<void> {
      const zk::reply left = co_await session->exists(chroot + "/lockmark", nullptr, l.now() + 10s);
      EXPECT_EQ(left.ended, zk::status::no_node);
    });
  }

  std::string chroot;  // does not exist before the run
  scratch dir;
  const fs::path runs = dir / "runs";
};

// Deletes until the node has been gone at least once, whatever the run creates meanwhile.
task<void> delete_chroot(loop& l, std::shared_ptr<zk::handle> session, std::string path) {
  const time_point limit = l.now() + 20s;
  zk::reply deleted;
  while (!deleted.ok() && l.now() < limit) {
    deleted = co_await zk::delete_tree(l, session, path, l.now() + 5s);
  }
  EXPECT_TRUE(deleted.ok()) << zk::describe_failure(deleted);
}

using a_deleted_chroot = meddled;
TEST_P(a_deleted_chroot, is_made_again) {
  const auto p = start();
  as_another([this](loop& l, std::shared_ptr<zk::handle> session) {
    return delete_chroot(l, std::move(session), chroot);
  });
  expect_went_on(*p);
}
INSTANTIATE_TEST_SUITE_P(of, a_deleted_chroot,
                         testing::Values("lock: zookeeper/sequential\n",
                                         "lock: zookeeper/ephemeral\n",
                                         "lock: zookeeper/semaphore_mutex\n"));

using a_session_closed_by_another = meddled;
TEST_P(a_session_closed_by_another, is_followed_by_a_new_one) {
  const auto p = start();
  const auto all = sessions();
  EXPECT_GE(all.size(), 2U);
  for (const std::uint64_t session : all) close_session(session);
  expect_went_on(*p);
  EXPECT_GE(told()["cost_per_acquire"]["reconnects"].get<int>(), 2);
}
INSTANTIATE_TEST_SUITE_P(of, a_session_closed_by_another,
                         testing::Values("lock: zookeeper/sequential\n",
                                         "lock: zookeeper/write\nparticipants: 2\n"));

}  // namespace
}  // namespace lockmark::cli
