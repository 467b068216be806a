#include "drivers/conformance/proxy.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <asio/error.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/write.hpp>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <string>
#include <thread>

namespace lockmark::conformance {
namespace {

using asio::ip::tcp;

// Echoes each message, one connection after another.
class echo_server {
 public:
  echo_server() : thread_([this] { serve(); }) {}
  ~echo_server() {
    shutdown(acceptor_.native_handle(), SHUT_RDWR);
    thread_.join();
  }
  std::uint16_t port() const { return port_; }
  int messages() const { return messages_; }

 private:
  void serve() {
    std::error_code error;
    while (true) {
      tcp::socket client{context_};
      acceptor_.accept(client, error);
      if (error) return;
      echo(client);
    }
  }

  void echo(tcp::socket& client) {
    std::array<char, 64> room{};
    std::error_code error;
    while (true) {
      const auto size = client.read_some(asio::buffer(room), error);
      if (error) return;
      ++messages_;
      asio::write(client, asio::buffer(room, size), error);
    }
  }

  asio::io_context context_;
  tcp::acceptor acceptor_{context_, {asio::ip::address_v4::loopback(), 0}};
  const std::uint16_t port_ = acceptor_.local_endpoint().port();
  std::atomic<int> messages_{0};
  std::thread thread_;
};

// A blocking connection to the proxy.
struct caller {
  explicit caller(const config::host_port& at) {
    socket.connect({asio::ip::make_address(at.host), at.port}, refused);
  }

  // What comes is waited for: "echo" or "broken".
  std::string ask() { return send_hello() ? hear(patience) : "broken"; }
  std::string hear() { return hear(patience); }
  // Silence is shown by a short wait.
  std::string ask_in_vain() {
    return send_hello() ? hear(std::chrono::milliseconds{100}) : "broken";
  }

  bool send_hello() { return send(socket.native_handle(), "hello", 5, MSG_NOSIGNAL) == 5; }

  // "echo", "silence", or "broken".
  std::string hear(std::chrono::microseconds within) {
    const timeval limit{.tv_sec = within.count() / 1'000'000,
                        .tv_usec = within.count() % 1'000'000};
    setsockopt(socket.native_handle(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    std::array<char, 64> room{};
    const auto size = recv(socket.native_handle(), room.data(), room.size(), 0);
    if (size > 0) return "echo";
    return size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? "silence" : "broken";
  }

  static constexpr std::chrono::seconds patience{20};
  asio::io_context context;
  tcp::socket socket{context};
  std::error_code refused;
};

struct between : testing::Test {
  echo_server server;
  proxy p{"127.0.0.1", server.port()};
};

// A cut breaks open connections and refuses new ones; `pass` works again on the same port.
TEST_F(between, cuts_and_passes_again) {
  const std::string address = p.address();
  caller first{p.at()};
  EXPECT_EQ(first.ask(), "echo");
  p.set(proxy_mode::cut);
  EXPECT_EQ(first.ask(), "broken");
  EXPECT_EQ(caller{p.at()}.refused, asio::error::connection_refused);
  p.set(proxy_mode::pass);
  EXPECT_EQ(p.address(), address);
  EXPECT_EQ(caller{p.at()}.ask(), "echo");
}

// `silent` accepts connections and never answers; those that lost bytes are broken when it ends.
TEST_F(between, keeps_silent) {
  caller first{p.at()};
  EXPECT_EQ(first.ask(), "echo");
  p.set(proxy_mode::silent);
  EXPECT_EQ(first.ask_in_vain(), "silence");
  EXPECT_EQ(caller{p.at()}.ask_in_vain(), "silence");
  EXPECT_EQ(server.messages(), 1);
  p.set(proxy_mode::pass);
  EXPECT_EQ(first.ask(), "broken");
}

// The server receives the request, the caller receives nothing, and then all is cut.
TEST_F(between, drops_one_reply_and_cuts) {
  caller first{p.at()};
  EXPECT_EQ(first.ask(), "echo");
  p.set(proxy_mode::drop_replies);
  EXPECT_EQ(first.ask(), "broken");
  EXPECT_EQ(server.messages(), 2);
  EXPECT_EQ(p.mode(), proxy_mode::cut);
  EXPECT_EQ(caller{p.at()}.refused, asio::error::connection_refused);
}

// Bytes sent meanwhile arrive later, over old and new connections.
TEST_F(between, holds_and_passes_on) {
  caller before{p.at()};
  EXPECT_EQ(before.ask(), "echo");
  p.set(proxy_mode::hold);
  caller meanwhile{p.at()};
  EXPECT_EQ(before.ask_in_vain(), "silence");
  EXPECT_EQ(meanwhile.ask_in_vain(), "silence");
  p.set(proxy_mode::pass);
  EXPECT_EQ(before.hear(), "echo");
  before.socket.close();  // the server serves one connection after the other
  EXPECT_EQ(meanwhile.hear(), "echo");
}

// A missing server looks the same as without the proxy: the connection ends.
TEST(proxy, breaks_when_there_is_no_server) {
  std::uint16_t nobody = 0;
  {
    const echo_server gone;
    nobody = gone.port();
  }
  proxy p{"127.0.0.1", nobody};
  EXPECT_EQ(caller{p.at()}.ask(), "broken");
}

// Two servers behind proxies of one group.
struct among : testing::Test {
  echo_server left;
  echo_server right;
  proxies both{{{"127.0.0.1", left.port()}, {"127.0.0.1", right.port()}}};
};

// A cut applies to all servers, or to one alone.
TEST_F(among, cuts_all_or_one) {
  caller to_left{both.address(0)};
  caller to_right{both.address(1)};
  EXPECT_EQ(to_left.ask(), "echo");
  EXPECT_EQ(to_right.ask(), "echo");
  both.set(1, proxy_mode::cut);
  EXPECT_EQ(to_left.ask(), "echo");
  EXPECT_EQ(to_right.ask(), "broken");
  both.set(proxy_mode::cut);
  EXPECT_EQ(to_left.ask(), "broken");
  both.set(proxy_mode::pass);
  EXPECT_EQ(caller{both.address(0)}.ask(), "echo");
  EXPECT_EQ(caller{both.address(1)}.ask(), "echo");
  EXPECT_EQ(right.messages(), 2);
}

// The first reply of either server is dropped; the other server has none, and is cut as well.
TEST_F(among, drops_the_first_reply_of_all_and_cuts) {
  caller to_left{both.address(0)};
  caller to_right{both.address(1)};
  EXPECT_EQ(to_left.ask(), "echo");
  both.set(proxy_mode::drop_replies);
  EXPECT_EQ(to_right.ask(), "broken");
  EXPECT_EQ(to_left.ask(), "broken");
  EXPECT_EQ(left.messages(), 1);
  EXPECT_EQ(right.messages(), 1);
  EXPECT_EQ(both.mode(0), proxy_mode::cut);
}

// Set one by one, each server receives its request and its own reply is dropped.
TEST_F(among, drops_one_reply_of_each) {
  caller to_left{both.address(0)};
  caller to_right{both.address(1)};
  both.set(0, proxy_mode::drop_replies);
  both.set(1, proxy_mode::drop_replies);
  EXPECT_EQ(to_right.ask(), "broken");
  EXPECT_EQ(both.mode(0), proxy_mode::drop_replies);
  EXPECT_EQ(to_left.ask(), "broken");
  EXPECT_EQ(both.mode(0), proxy_mode::cut);
  EXPECT_EQ(left.messages(), 1);
  EXPECT_EQ(right.messages(), 1);
}

// The port is not given to another socket meanwhile.
TEST(proxies_of_one_server, keep_their_port_while_cut_and_mended) {
  echo_server server;
  proxies some({{"127.0.0.1", server.port()}});
  const auto port = some.address(0).port;
  std::atomic<bool> over = false;
  std::atomic<int> taken = 0;
  std::thread thief([&] {
    while (!over) {
      asio::io_context context;
      tcp::socket mine(context, tcp::v4());
      std::error_code refused;
      mine.bind({asio::ip::address_v4::loopback(), port}, refused);
      if (!refused) ++taken;
    }
  });
  try {
    for (int i = 0; i < 500; ++i) {
      some.set(proxy_mode::cut);
      some.set(proxy_mode::pass);
    }
  } catch (const std::system_error& e) {
    ADD_FAILURE() << e.what();
  }
  over = true;
  thief.join();
  EXPECT_EQ(taken, 0);
}

}  // namespace
}  // namespace lockmark::conformance
