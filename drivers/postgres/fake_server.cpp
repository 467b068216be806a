#include "drivers/postgres/fake_server.hpp"

#include <fmt/core.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "harness/unique_fd.hpp"

namespace lockmark::postgres::fake {
namespace {

constexpr std::uint32_t tls_request = 80877103;

std::uint32_t value_of(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const char c : bytes) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

// The text up to the next zero, which is cut off.
std::string_view cut_text(std::string_view& rest) {
  const auto end = std::min(rest.find('\0'), rest.size());
  const std::string_view text = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return text;
}

std::string terminated(std::string_view text) {
  return std::string{text} + '\0';
}

}  // namespace

std::string number(std::uint32_t value, int bytes) {
  std::string all;
  for (int i = bytes - 1; i >= 0; --i) all += static_cast<char>(value >> (8 * i) & 0xff);
  return all;
}

std::string message(char letter, std::string_view payload) {
  return (letter + number(static_cast<std::uint32_t>(payload.size() + 4), 4)).append(payload);
}

std::string done(std::string_view tag) {
  return message('C', terminated(tag));
}

std::string error(std::string_view sqlstate, std::string_view words, std::string_view severity) {
  return message('E', "S" + terminated(severity) + "V" + terminated(severity) + "C" +
                          terminated(sqlstate) + "M" + terminated(words) + '\0');
}

std::string description(const cells& names) {
  std::string all = number(static_cast<std::uint32_t>(names.size()), 2);
  constexpr std::uint32_t type_text = 25;
  for (const auto& name : names) {
    all += terminated(name.value_or("")) + number(0, 4) + number(0, 2) + number(type_text, 4) +
           number(0xffff, 2) + number(0xffffffff, 4) + number(0, 2);
  }
  return message('T', all);
}

std::string row(const cells& values) {
  std::string all = number(static_cast<std::uint32_t>(values.size()), 2);
  for (const auto& v : values) {
    all += number(v ? static_cast<std::uint32_t>(v->size()) : 0xffffffff, 4) + v.value_or("");
  }
  return message('D', all);
}

std::string result(const cells& names, const std::vector<cells>& rows) {
  std::string all = description(names);
  for (const cells& r : rows) all += row(r);
  return all + done(fmt::format("SELECT {}", rows.size()));
}

std::string parameter(std::string_view name, std::string_view value) {
  return message('S', terminated(name) + terminated(value));
}

std::string welcome() {
  return message('R', number(0, 4)) + parameter("server_version", "15.0") +
         parameter("client_encoding", "UTF8") + message('K', number(7, 4) + number(1, 4)) +
         message('Z', "I");
}

std::string demand_password(std::uint32_t how) {
  return message('R', number(how, 4) + (how == 5 ? "salt" : ""));
}

std::optional<reply> route_answer(std::string_view statement) {
  if (!statement.starts_with("SELECT pg_is_in_recovery()")) return std::nullopt;
  return reply{result({"r", "t", "p"}, {{"f", "off", "7"}})};
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
  // `letter`: of the message; 0 for one without, at the beginning of a login.
  bool read_message(int fd, char& letter, std::string& payload) {
    std::string head;
    if (!read(fd, head, letter == 0 ? 4 : 5)) return false;
    if (letter != 0) letter = head[0];
    return read(fd, payload, value_of(head.substr(head.size() - 4)) - 4);
  }
  bool log_in(int fd) {
    std::string said;
    char letter = 0;
    do {
      if (!read_message(fd, letter, said)) return false;
      if (letter == 0 && value_of(said.substr(0, 4)) == tls_request) {
        if (!send_all(fd, std::string(1, says.tls))) return false;
        continue;
      }
      const reply r = says.login(said);
      if (!send(fd, r)) return false;
      if (r.bytes.ends_with(message('Z', "I"))) return true;
      letter = 'p';
    } while (true);
  }
  void serve(const unique_fd& client) {
    if (!log_in(client.get())) return;
    std::map<std::string, std::string, std::less<>> statements;
    std::string payload, sql, answers;
    bool failed = false;  // all is skipped until the client's next Sync
    for (char letter = 'x'; read_message(client.get(), letter, payload);) {
      std::string_view rest = payload;
      if (letter == 'X') return;
      if (letter == 'S') {
        if (!send_all(client.get(), answers + message('Z', "I"))) return;
        answers.clear();
        failed = false;
      } else if (letter == 'P' && !failed) {
        const std::string name{cut_text(rest)};
        statements[name] = cut_text(rest);
        answers += message('1', "");
      } else if (letter == 'B' && !failed) {
        cut_text(rest);
        sql = statements[std::string{cut_text(rest)}];
        answers += message('2', "");
      } else if (letter == 'E' && !failed) {
        const reply r = says.answer(sql);
        failed = r.bytes.starts_with('E');
        reply whole = r;
        whole.bytes.insert(0, std::exchange(answers, ""));
        if (!send(client.get(), whole)) return;
      }
    }
  }
  void open_door() {
    while (ready(listener.get(), POLLIN)) {
      unique_fd client{accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC)};
      if (client.get() < 0) continue;
      // Or an answer in two parts would wait for the client's word that it has the first.
      const int at_once = 1;
      setsockopt(client.get(), IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
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
  return fmt::format("postgres://somebody:hunter2@127.0.0.1:{}/lockmark", port());
}

std::string server::received() const {
  const std::scoped_lock lock{state_->mutex};
  return state_->received;
}

}  // namespace lockmark::postgres::fake
