// Ensembles of ZooKeeper as real servers: the leader, and the effect of members that die.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <csignal>

#include "deploy/local/cluster.hpp"
#include "deploy/local/process.hpp"
#include "deploy/local/test_support.hpp"

namespace lockmark::local {
namespace {

using testing::Contains;
using testing::UnorderedElementsAre;

// A member's reported mode: "leader", "follower", or empty if it is not serving.
std::string mode_of(int port) {
  const unique_fd connection{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (connect(connection.get(), generic, sizeof address) != 0) return "";
  if (send(connection.get(), "srvr", 4, MSG_NOSIGNAL) != 4) return "";
  std::string answer;
  char bytes[1024];
  ssize_t size = 0;
  while ((size = recv(connection.get(), bytes, sizeof bytes, 0)) > 0)
    answer.append(bytes, static_cast<std::size_t>(size));
  const auto mode = answer.find("Mode: ");
  if (mode == std::string::npos) return "";
  return answer.substr(mode + 6, answer.find('\n', mode) - mode - 6);
}

std::vector<std::string> modes(const cluster& ensemble) {
  std::vector<std::string> all;
  for (const server_info& one : ensemble.servers()) all.push_back(mode_of(one.port));
  return all;
}

std::string leader_of(const cluster& ensemble) {
  for (const server_info& one : ensemble.servers())
    if (mode_of(one.port) == "leader") return one.name;
  return "";
}

// When start() returns, one member leads and all others follow; and again after the leader was
// killed and has come back.
TEST(zookeeper_ensemble, survives_its_leader) {
  auto ensemble = cluster::start("zookeeper-3");
  EXPECT_THAT(modes(ensemble), UnorderedElementsAre("leader", "follower", "follower"));
  const std::string first = leader_of(ensemble);
  ensemble.kill(first, SIGKILL);
  // A leader serves before the others have caught up with it.
  const auto two_serve = UnorderedElementsAre("leader", "follower", "");
  EXPECT_TRUE(eventually([&] { return testing::Value(modes(ensemble), two_serve); }));
  ensemble.restart(first);
  EXPECT_THAT(modes(ensemble), UnorderedElementsAre("leader", "follower", "follower"));
}

// Two of five may die, but not three.
TEST(zookeeper_ensemble, needs_a_majority) {
  auto ensemble = cluster::start("zookeeper-5");
  EXPECT_EQ(std::ranges::count(modes(ensemble), "follower"), 4);
  ensemble.kill("zookeeper-1", SIGKILL);
  ensemble.kill("zookeeper-2", SIGKILL);
  EXPECT_TRUE(eventually([&] { return std::ranges::count(modes(ensemble), "follower") == 2; }));
  ensemble.kill("zookeeper-3", SIGKILL);
  EXPECT_TRUE(eventually([&] { return std::ranges::count(modes(ensemble), "") == 5; }));
  ensemble.restart("zookeeper-1");
  EXPECT_THAT(modes(ensemble), Contains("leader"));
}

}  // namespace
}  // namespace lockmark::local
