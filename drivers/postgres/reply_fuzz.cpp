// Any bytes as a PostgreSQL server's answer to a statement, through the client library and a
// socket: an answer, or no_server, and at once, because the server hangs up after them.
//
// The library is not instrumented: its errors show only where it meets the allocator, or our code.
// An input that begins with a 1 is messages, each a letter and its length in one byte.
#include <fmt/core.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "drivers/postgres/connection.hpp"
#include "drivers/postgres/fake_server.hpp"
#include "harness/async/scope.hpp"
#include "harness/unique_fd.hpp"

namespace {

using namespace lockmark;
using namespace lockmark::postgres;
using namespace std::chrono_literals;

// Greets each client, answers its first statement, and ends. It reads no more of what it is sent
// than that there is something: a statement is one segment.
class speaker {
 public:
  speaker() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (bind(listener_.get(), generic, size) != 0 || listen(listener_.get(), 8) != 0 ||
        getsockname(listener_.get(), generic, &size) != 0) {
      throw std::runtime_error("no port for a server");
    }
    where = read_servers(fmt::format("postgres://u:p@127.0.0.1:{}/d", ntohs(address.sin_port)))[0];
    std::thread([this] { speak(); }).detach();
  }

  void answer_with(std::string bytes) {
    const std::scoped_lock lock{mutex_};
    answer_ = std::move(bytes);
  }
  endpoint where;

 private:
  [[noreturn]] void speak() {
    char heard[1024];
    for (unique_fd client;;) {
      client = unique_fd{accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
      const std::string login = fake::welcome();
      if (recv(client.get(), heard, sizeof heard, 0) <= 0) continue;
      send(client.get(), login.data(), login.size(), MSG_NOSIGNAL);
      if (recv(client.get(), heard, sizeof heard, 0) <= 0) continue;
      const std::scoped_lock lock{mutex_};
      send(client.get(), answer_.data(), answer_.size(), MSG_NOSIGNAL);
      shutdown(client.get(), SHUT_WR);
    }
  }

  unique_fd listener_;
  std::mutex mutex_;
  std::string answer_;
};

std::string framed(std::string_view input) {
  std::string all;
  while (input.size() > 1) {
    const auto length =
        std::min<std::size_t>(static_cast<unsigned char>(input[1]), input.size() - 2);
    all += fake::message(input[0], input.substr(2, length));
    input.remove_prefix(2 + length);
  }
  return all;
}

// The library asks the allocator for as much as a message announces, and then touches only what
// comes. libFuzzer takes that for memory, so no message here announces more than 64 KiB.
std::string modest(std::string bytes) {
  constexpr std::size_t head = 5;
  for (std::size_t at = 0; at + head <= bytes.size();) {
    bytes[at + 1] = bytes[at + 2] = '\0';
    const auto byte = [&](std::size_t n) {
      return static_cast<std::size_t>(static_cast<unsigned char>(bytes[at + n]));
    };
    at += 1 + std::max<std::size_t>(byte(3) << 8 | byte(4), 4);
  }
  return bytes;
}

task<void> ask(loop& l, const endpoint& where) {
  traffic unused;
  connection c{l, unused};
  const connect_failure failure = co_await c.connect(where, l.now() + 10s);
  assert(!failure.failed());
  try {
    const answer said = co_await c.query("SELECT 1", l.now() + 10s);
    assert(said.unknown != doubt::deadline);
    for (std::size_t i = 0; i < said.rows(); ++i) said.at(i, 1).cell(0);
    if (said.done()) said.affected();
  } catch (const no_server& why) {
    assert(std::string_view{why.what()}.size() < 1000);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static speaker* const peer = new speaker;  // its thread ends with the process
  const std::string_view input{reinterpret_cast<const char*>(data), size};
  peer->answer_with(modest(input.starts_with('\1') ? framed(input.substr(1)) : std::string{input}));
  real_clock clock;
  loop l{clock};
  run_to_end(l, ask(l, peer->where));
  return 0;
}
