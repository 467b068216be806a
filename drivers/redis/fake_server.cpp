#include "drivers/redis/fake_server.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

#include "drivers/redis/resp.hpp"

namespace lockmark::redis {

// Whether the socket is ready before the time is over and nobody wants this to end.
bool fake_server::peer::is_wanted(short what, int milliseconds) const {
  constexpr short gone = POLLRDHUP;
  pollfd watched[] = {{socket_, static_cast<short>(what | gone), 0}, {stopping_, POLLIN, 0}};
  poll(watched, 2, milliseconds);
  return watched[1].revents == 0 && (watched[0].revents & (POLLERR | POLLHUP | gone)) == 0;
}

bool fake_server::peer::send(std::string_view bytes) const {
  while (!bytes.empty()) {
    if (!is_wanted(POLLOUT, -1)) return false;
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN) return false;
    if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool fake_server::peer::pause(int milliseconds) const {
  return is_wanted(0, milliseconds);
}

fake_server::fake_server(behaviour b) : behaviour_(std::move(b)) {
  int ends[2];
  listener_ = unique_fd{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const generic = reinterpret_cast<sockaddr*>(&where);
  socklen_t size = sizeof where;
  if (pipe2(ends, O_CLOEXEC) != 0 || bind(listener_.get(), generic, size) != 0 ||
      listen(listener_.get(), 64) != 0 || getsockname(listener_.get(), generic, &size) != 0) {
    throw std::runtime_error("a fake server has no port");
  }
  stopping_ = unique_fd{ends[0]};
  stop_ = unique_fd{ends[1]};
  port_ = ntohs(where.sin_port);
  accepting_ = std::thread([this] { accept_all(); });
}

fake_server::~fake_server() {
  stop_.reset();
  accepting_.join();
  for (std::thread& t : clients_) t.join();
}

std::string fake_server::address() const {
  return fmt::format("127.0.0.1:{}", port_);
}

void fake_server::accept_all() {
  while (true) {
    pollfd watched[] = {{listener_.get(), POLLIN, 0}, {stopping_.get(), POLLIN, 0}};
    poll(watched, 2, -1);
    if (watched[1].revents != 0) return;
    unique_fd client{accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
    if (client.get() < 0) continue;
    clients_.emplace_back([this, c = std::move(client)]() mutable { serve(std::move(c)); });
  }
}

// Commands are replies that are arrays of texts.
void fake_server::serve(unique_fd client) {
  const peer to{client.get(), stopping_.get()};
  reply_parser parser;
  char room[4096];
  while (true) {
    pollfd watched[] = {{client.get(), POLLIN, 0}, {stopping_.get(), POLLIN, 0}};
    poll(watched, 2, -1);
    if (watched[1].revents != 0) return;
    const ssize_t got = recv(client.get(), room, sizeof room, 0);
    if (got <= 0) return;
    parser.feed({room, static_cast<std::size_t>(got)});
    for (reply r; parser.next(r) == reply_parser::state::whole;) {
      command words;
      for (const reply& part : r.parts) words.push_back(part.text);
      if (!behaviour_(words, to)) return;
    }
  }
}

std::string as_text(std::string_view text) {
  return fmt::format("${}\r\n{}\r\n", text.size(), text);
}

std::string usual_answer(const fake_server::command& c) {
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
