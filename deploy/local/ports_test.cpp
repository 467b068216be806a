#include "deploy/local/ports.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <fstream>
#include <set>

#include "deploy/local/error.hpp"
#include "deploy/local/process.hpp"

namespace lockmark::local {
namespace {

// The error of take() for a port; empty if it succeeds.
std::string complaint(int port) {
  try {
    port_source{port}.take("redis");
    return {};
  } catch (const start_error& error) {
    return error.what();
  }
}

// Random ports differ, and none is in the range of outgoing connections.
TEST(port_source, keeps_off_outgoing_connections) {
  int low = 0;
  std::ifstream("/proc/sys/net/ipv4/ip_local_port_range") >> low;
  port_source ports{std::nullopt};
  std::set<int> seen;
  for (int i = 0; i < 50; ++i) seen.insert(ports.take("redis"));
  EXPECT_EQ(seen.size(), 50u);
  EXPECT_LT(*seen.rbegin(), low);
}

// A fixed port is followed by its successors, for a cluster of several servers.
TEST(port_source, counts_on_from_a_fixed_port) {
  int first = 0;
  do {
    first = port_source{std::nullopt}.take("redis");
  } while (!complaint(first + 1).empty());
  port_source ports{first};
  EXPECT_EQ(ports.take("one"), first);
  EXPECT_EQ(ports.take("two"), first + 1);
}

// Until its server listens, and while that is down, nobody else gets a port; then it is free again.
TEST(port_source, reserves_a_port_while_it_lives) {
  int port = 0;
  {
    port_source first{std::nullopt};
    port = first.take("redis");
    EXPECT_THAT(complaint(port), testing::HasSubstr("is already taken"));
  }
  EXPECT_EQ(complaint(port), "");
}

// A port in use is refused in one sentence that names it.
TEST(port_source, names_a_port_that_is_taken) {
  const unique_fd listener{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(bind(listener.get(), generic, size), 0);
  ASSERT_EQ(listen(listener.get(), 1), 0);
  ASSERT_EQ(getsockname(listener.get(), generic, &size), 0);
  const int port = ntohs(address.sin_port);
  EXPECT_EQ(complaint(port),
            fmt::format("port {} of 127.0.0.1 is already taken, so redis cannot listen on it; name "
                        "another port or let a free one be chosen",
                        port));
}

TEST(port_source, refuses_what_is_no_port) {
  for (const int port : {-1, 0, 65'536}) {
    EXPECT_EQ(
        complaint(port),
        fmt::format("redis cannot listen on port {}: a port is a number from 1 to 65535", port));
  }
}

}  // namespace
}  // namespace lockmark::local
