// The process of the proxies between a server and its clients, played by the test.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <utility>

#include "harness/async/scope.hpp"
#include "harness/faults/proxy/process.hpp"
#include "harness/unique_fd.hpp"

namespace lockmark::faults {

using namespace std::chrono_literals;

// The limit on waits for events that will come, however busy the machine.
inline constexpr duration patience = 30s;

inline sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(port);
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return where;
}

inline bool readable_within(const unique_fd& socket, duration limit) {
  pollfd watched{socket.get(), POLLIN, 0};
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(limit).count();
  return poll(&watched, 1, static_cast<int>(ms)) > 0;
}

// No socket if the connection was refused.
inline unique_fd connect_to(std::uint16_t port) {
  unique_fd made{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  const sockaddr_in where = loopback(port);
  const auto* generic = reinterpret_cast<const sockaddr*>(&where);
  return connect(made.get(), generic, sizeof where) == 0 ? std::move(made) : unique_fd{};
}

inline void say(const unique_fd& to, std::string_view text) {
  EXPECT_EQ(send(to.get(), text.data(), text.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(text.size()));
}

// Exactly `size` bytes; fewer if the connection ended, or nothing came for a while.
inline std::string hear(const unique_fd& from, std::size_t size) {
  std::string text;
  std::array<char, 65536> room;
  while (text.size() < size && readable_within(from, patience)) {
    const ssize_t got = recv(from.get(), room.data(), std::min(room.size(), size - text.size()), 0);
    if (got <= 0) break;
    text.append(room.data(), static_cast<std::size_t>(got));
  }
  return text;
}

inline bool has_ended(const unique_fd& connection) {
  char byte = 0;
  return readable_within(connection, patience) && recv(connection.get(), &byte, 1, 0) <= 0;
}

class server {
 public:
  server() : door_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in here = loopback(0);
    socklen_t size = sizeof here;
    auto* generic = reinterpret_cast<sockaddr*>(&here);
    EXPECT_EQ(bind(door_.get(), generic, size), 0);
    EXPECT_EQ(getsockname(door_.get(), generic, &size), 0);
    EXPECT_EQ(listen(door_.get(), 16), 0);
    port_ = ntohs(here.sin_port);
  }
  std::uint16_t port() const { return port_; }
  // No socket if no client came.
  unique_fd accepted(duration limit = patience) const {
    if (!readable_within(door_, limit)) return unique_fd{};
    return unique_fd{accept(door_.get(), nullptr, nullptr)};
  }

 private:
  unique_fd door_;
  std::uint16_t port_ = 0;
};

class proxies : public testing::Test {
 protected:
  proxies() { link_ = process_.open({"127.0.0.1", server_.port()}); }

  // A client's connection through the proxy, and its server end.
  std::pair<unique_fd, unique_fd> join() {
    unique_fd client = connect_to(link_.port);
    unique_fd served = server_.accepted();
    EXPECT_TRUE(client && served);
    return {std::move(client), std::move(served)};
  }
  void set(link_mode mode, duration by = {}) {
    run_to_end(loop_, process_.set(loop_, {link_.link}, mode, by));
  }

  real_clock clock_;
  loop loop_{clock_};
  server server_;
  proxy_process process_{{LOCKMARK_PROXY}};
  proxied link_;
};

}  // namespace lockmark::faults
