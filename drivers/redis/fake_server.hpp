// For tests: a server on Redis's protocol that answers as the test says, right or wrong. It keeps
// no data.
#pragma once

#include <arpa/inet.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "drivers/redis/resp.hpp"
#include "harness/unique_fd.hpp"

namespace lockmark::redis {

class fake_server {
 public:
  using command = std::vector<std::string>;

  // The connection to one client. Calls return false once the client has gone or the server stops.
  class peer {
   public:
    explicit peer(int socket) : socket_(socket) {}
    bool send(std::string_view bytes) const {
      while (!bytes.empty()) {
        const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent < 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
      }
      return true;
    }
    bool pause(int milliseconds) const {
      pollfd watched{socket_, POLLRDHUP, 0};
      return poll(&watched, 1, milliseconds) == 0;
    }

   private:
    int socket_;
  };

  // Called for each command, concurrently for several clients. False: hangs up.
  using behaviour = std::function<bool(const command&, const peer&)>;

  // Listens on a free port of 127.0.0.1.
  explicit fake_server(behaviour b) : behaviour_(std::move(b)) {
    listener_ = unique_fd{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const generic = reinterpret_cast<sockaddr*>(&where);
    socklen_t size = sizeof where;
    if (bind(listener_.get(), generic, size) != 0 || listen(listener_.get(), 64) != 0 ||
        getsockname(listener_.get(), generic, &size) != 0) {
      throw std::runtime_error("a fake server has no port");
    }
    port_ = ntohs(where.sin_port);
    accepting_ = std::thread([this] { accept_all(); });
  }
  ~fake_server() {
    shutdown(listener_.get(), SHUT_RDWR);
    accepting_.join();
    for (client& c : clients_) {
      shutdown(c.socket.get(), SHUT_RDWR);
      c.serving.join();
    }
  }
  fake_server(const fake_server&) = delete;
  fake_server& operator=(const fake_server&) = delete;

  // "127.0.0.1:4711"
  std::string address() const { return fmt::format("127.0.0.1:{}", port_); }
  std::string url() const { return "redis://" + address(); }

 private:
  struct client {
    unique_fd socket;
    std::thread serving;
  };

  void accept_all() {
    while (true) {
      unique_fd socket{accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
      if (socket.get() < 0 && errno == EINVAL) return;  // shut down
      if (socket.get() < 0) continue;
      const int number = socket.get();
      clients_.push_back({std::move(socket), std::thread([this, number] {
                            serve(number);
                            shutdown(number, SHUT_RDWR);
                          })});
    }
  }

  // Commands are replies that are arrays of texts.
  void serve(int socket) const {
    const peer to{socket};
    reply_parser parser;
    char room[4096];
    while (true) {
      const ssize_t got = recv(socket, room, sizeof room, 0);
      if (got <= 0) return;
      parser.feed({room, static_cast<std::size_t>(got)});
      for (reply r; parser.next(r) == reply_parser::state::whole;) {
        command words;
        for (const reply& part : r.parts) words.push_back(part.text);
        if (!behaviour_(words, to)) return;
      }
    }
  }

  const behaviour behaviour_;
  unique_fd listener_;
  std::uint16_t port_ = 0;
  std::vector<client> clients_;
  std::thread accepting_;
};

// A text in RESP.
inline std::string as_text(std::string_view text) {
  return fmt::format("${}\r\n{}\r\n", text.size(), text);
}

// The answers of Redis 7 to the commands by which drivers examine it; "+OK" to all others.
inline std::string usual_answer(const fake_server::command& c) {
  if (c.empty()) return "-ERR\r\n";
  if (c[0] == "INFO") {
    return as_text(
        "redis_version:7.0.15\r\nredis_mode:standalone\r\nrole:master\r\n"
        "connected_slaves:0\r\nconnected_clients:1\r\n");
  }
  if (c[0] == "CONFIG") return "*2\r\n" + as_text(c.at(2)) + as_text("0");
  if (c[0] == "TIME") return "*2\r\n" + as_text("1700000000") + as_text("0");
  if (c[0] == "SETNX" || c[0] == "DEL" || c[0].starts_with("EVAL")) return ":1\r\n";
  return "+OK\r\n";
}

}  // namespace lockmark::redis
