#include "drivers/mysql/fake_server.hpp"

#include <fmt/core.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <mutex>
#include <stdexcept>
#include <thread>

#include "harness/unique_fd.hpp"

namespace lockmark::mysql::fake {
namespace {

constexpr std::string_view salt = "abcdefgh0123456789AB";

std::string little_endian(std::uint64_t value, int bytes) {
  std::string all;
  for (int i = 0; i < bytes; ++i) all += static_cast<char>((value >> (8 * i)) & 0xff);
  return all;
}

}  // namespace

std::string packet(std::uint8_t number, std::string_view payload) {
  std::string all = little_endian(payload.size(), 3);
  all += static_cast<char>(number);
  return all.append(payload);
}

std::string number(std::uint64_t value) {
  if (value < 251) return little_endian(value, 1);
  if (value < 0x10000) return '\xfc' + little_endian(value, 2);
  if (value < 0x1000000) return '\xfd' + little_endian(value, 3);
  return '\xfe' + little_endian(value, 8);
}

std::string text(std::string_view value) {
  return number(value.size()).append(value);
}

std::string ok(std::uint64_t affected, std::uint8_t number_of_packet) {
  return packet(number_of_packet,
                '\0' + number(affected) + number(0) + little_endian(2, 2) + little_endian(0, 2));
}

std::string error(std::uint16_t code, std::string_view words) {
  return packet(1, ('\xff' + little_endian(code, 2) + "#HY000").append(words));
}

std::string definition(std::string_view name) {
  std::string all = text("def") + text("") + text("") + text("") + text(name) + text("");
  return all + '\x0c' + little_endian(33, 2) + little_endian(255, 4) + '\xfd' +
         little_endian(0, 2) + '\0' + little_endian(0, 2);
}

std::string end_of_rows(std::uint16_t status) {
  return '\xfe' + little_endian(0, 2) + little_endian(status, 2);
}

std::string row(const cells& values) {
  std::string all;
  for (const auto& v : values) all += v ? text(*v) : "\xfb";
  return all;
}

std::string in_packets(const std::vector<std::string>& payloads) {
  std::string all;
  std::uint8_t n = 1;
  for (const std::string& p : payloads) all += packet(n++, p);
  return all;
}

std::string result(const cells& names, const std::vector<cells>& rows, std::uint16_t status) {
  std::vector<std::string> all = {number(names.size())};
  for (const auto& name : names) all.push_back(definition(name.value_or("")));
  all.push_back(end_of_rows(status));
  for (const cells& r : rows) all.push_back(row(r));
  all.push_back(end_of_rows(status));
  return in_packets(all);
}

// Protocol 4.1, logins by plugins, a database at login; TLS only if `flags` say so.
std::string greeting(std::string_view plugin, std::uint32_t flags) {
  const std::uint32_t capabilities = 0x0008a20fU | flags;
  std::string all = "\x0a";
  all += std::string{"5.5.5-10.11.19-MariaDB-fake"} + '\0' + little_endian(7, 4);
  all += std::string{salt.substr(0, 8)} + '\0' + little_endian(capabilities & 0xffff, 2) + '\x21' +
         little_endian(2, 2) + little_endian(capabilities >> 16, 2) + '\x15';
  all += std::string(10, '\0') + std::string{salt.substr(8)} + '\0';
  return packet(0, all.append(plugin) + '\0');
}

std::string other_login(std::string_view plugin) {
  return packet(2, std::string{"\xfe"}.append(plugin) + '\0' + std::string{salt} + '\0');
}

struct server::state {
  script says;
  unique_fd listener;
  unique_fd stop;
  std::uint16_t port = 0;
  mutable std::mutex mutex;
  std::string received;
  std::vector<std::thread> clients;  // filled by `doorman` alone
  std::thread doorman;

  // Waits until `fd` is ready. False: the server is ending.
  bool ready(int fd, short events, int limit_ms = -1) const {
    pollfd both[] = {{fd, events, 0}, {stop.get(), POLLIN, 0}};
    while (poll(both, 2, limit_ms) < 0) {
    }
    return both[1].revents == 0;
  }
  bool send_all(int fd, std::string_view bytes) const {
    while (!bytes.empty()) {
      if (!ready(fd, POLLOUT)) return false;
      const ssize_t n = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (n < 0 && errno != EAGAIN) return false;
      if (n > 0) bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }
  bool send(int fd, const reply& r) const {
    do {
      const std::size_t piece = r.piece == 0 ? r.bytes.size() : r.piece;
      for (std::size_t at = 0; at < r.bytes.size(); at += piece) {
        if (!send_all(fd, std::string_view{r.bytes}.substr(at, piece))) return false;
        if (r.pause.count() > 0 && !ready(-1, 0, static_cast<int>(r.pause.count()))) return false;
      }
    } while (r.for_ever);
    return !r.then_hangs_up;
  }
  bool read(int fd, std::string& into, std::size_t bytes) {
    into.clear();
    while (into.size() < bytes) {
      char some[4096];
      if (!ready(fd, POLLIN)) return false;
      const ssize_t n = recv(fd, some, std::min(sizeof some, bytes - into.size()), 0);
      if (n <= 0) return false;
      into.append(some, static_cast<std::size_t>(n));
    }
    const std::scoped_lock lock{mutex};
    received += into;
    return true;
  }
  bool read_packet(int fd, std::string& payload) {
    std::string head;
    if (!read(fd, head, 4)) return false;
    const auto byte = [&](int i) { return static_cast<std::size_t>(head[i] & 0xff); };
    return read(fd, payload, byte(0) | byte(1) << 8 | byte(2) << 16);
  }
  void serve(const unique_fd& client) {
    std::string message;
    if (!send(client.get(), says.first)) return;
    for (bool again = true; again;) {
      if (!read_packet(client.get(), message)) return;
      const reply r = says.login(message);
      if (!send(client.get(), r)) return;
      again = r.bytes.size() > 4 && r.bytes[4] == '\xfe';
    }
    constexpr char quit = 1;
    constexpr char query = 3;
    while (read_packet(client.get(), message)) {
      if (!message.empty() && message[0] == quit) return;
      const bool asked = !message.empty() && message[0] == query;
      const reply r = asked ? says.answer(std::string_view{message}.substr(1)) : reply{ok()};
      if (!send(client.get(), r)) return;
    }
  }
  void open_door() {
    while (ready(listener.get(), POLLIN)) {
      unique_fd client{accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC)};
      if (client.get() < 0) continue;
      clients.emplace_back([this, c = std::move(client)] { serve(c); });
    }
  }
};

server::server(script says) : state_(std::make_unique<state>()) {
  state& s = *state_;
  s.says = std::move(says);
  s.stop = unique_fd{eventfd(0, EFD_CLOEXEC)};
  s.listener = unique_fd{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(s.listener.get(), generic, size) != 0 || listen(s.listener.get(), 64) != 0 ||
      getsockname(s.listener.get(), generic, &size) != 0) {
    throw std::runtime_error("no port for a fake server");
  }
  s.port = ntohs(address.sin_port);
  s.doorman = std::thread([&s] { s.open_door(); });
}

server::~server() {
  eventfd_write(state_->stop.get(), 1);
  state_->doorman.join();
  for (std::thread& c : state_->clients) c.join();
}

std::uint16_t server::port() const {
  return state_->port;
}

std::string server::url() const {
  return fmt::format("mysql://somebody:hunter2@127.0.0.1:{}/lockmark", port());
}

std::string server::received() const {
  const std::scoped_lock lock{state_->mutex};
  return state_->received;
}

}  // namespace lockmark::mysql::fake
