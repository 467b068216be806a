// Coordinator and agent in one process, over real sockets: who is let in, and what others send.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <future>

#include "harness/agents/agent.hpp"
#include "harness/agents/coordinator.hpp"
#include "harness/base/errors.hpp"
#include "harness/unique_fd.hpp"

namespace lockmark::agents {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

const std::atomic<int> nobody{0};

std::string nothing() {
  return {};
}

agent_setup of(const coordinator& c, const std::string& name, const std::string& build) {
  agent_setup made;
  made.join = c.address();
  made.guests = read_invitation(c.invitation_text());
  made.name = name;
  made.build = build;
  made.within = 10s;
  return made;
}

TEST(wire, another_build_is_refused_with_a_sentence) {
  const real_clock clock;
  const coordinator c(clock, {.build = "lockmark 2 (b)"});
  try {
    be_agent(clock, of(c, "old", "lockmark 1 (a)"));
    ADD_FAILURE();
  } catch (const usage_error& e) {
    EXPECT_THAT(e.what(), HasSubstr("it is lockmark 1 (a), and this is lockmark 2 (b)"));
  }
}

void send_garbage(const std::string& address) {
  const unique_fd plain{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port =
      htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(connect(plain.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
  const std::string text = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nno TLS here";
  EXPECT_EQ(send(plain.get(), text.data(), text.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(text.size()));
  char answer[64];
  while (recv(plain.get(), answer, sizeof answer, 0) > 0) continue;  // until it is closed
}

// Whoever does not speak TLS is hung up on, and the others come in.
TEST(wire, who_speaks_without_tls_is_hung_up_on) {
  const real_clock clock;
  std::future<void> agent;
  {
    coordinator c(clock, {.within = 20s, .build = "b"});
    send_garbage(c.address());
    agent = std::async(std::launch::async, [&, who = of(c, "one", "b")] { be_agent(clock, who); });
    c.wait(nobody, nothing);
    EXPECT_EQ(c.links().size(), 1U);
  }
  agent.get();  // it was dismissed
}

}  // namespace
}  // namespace lockmark::agents
