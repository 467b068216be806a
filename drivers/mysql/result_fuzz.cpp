// Any bytes as a MySQL server's answer to a statement, through the client library and a socket: an
// answer, or no_server, and at once, because the server hangs up after them.
//
// The library is not instrumented: its errors show only where it meets the allocator, or our code.
// An input that begins with a 1 is packets, each preceded by its length in one byte.
#include <fmt/core.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cassert>
#include <cstdint>
#include <stdexcept>
#include <thread>

#include "drivers/mysql/connection.hpp"
#include "drivers/mysql/fake_server.hpp"
#include "harness/async/scope.hpp"
#include "harness/unique_fd.hpp"

namespace {

using namespace lockmark;
using namespace lockmark::mysql;
using namespace std::chrono_literals;

// Sends the login and the answer to each client that connects, and reads nothing: up to there, a
// server's messages do not depend on its client. A fake::server, with a thread per client and a
// turn per message, managed a tenth as many executions.
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
    const auto url = fmt::format("mysql://u:p@127.0.0.1:{}/d", ntohs(address.sin_port));
    where = read_servers(url).hosts[0];
    std::thread([this] { speak(); }).detach();
  }

  endpoint where;
  std::string answer;  // read after a connection is accepted

 private:
  // A client is done with its connection when the next one comes.
  [[noreturn]] void speak() {
    for (unique_fd client;;) {
      client = unique_fd{accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
      const std::string all = fake::greeting() + fake::ok(0, 2) + answer;
      send(client.get(), all.data(), all.size(), MSG_NOSIGNAL);
      shutdown(client.get(), SHUT_WR);
    }
  }

  unique_fd listener_;
};

std::string framed(std::string_view input) {
  std::string all;
  for (std::uint8_t number = 1; !input.empty(); ++number) {
    const auto length =
        std::min<std::size_t>(static_cast<unsigned char>(input[0]), input.size() - 1);
    all += fake::packet(number, input.substr(1, length));
    input.remove_prefix(1 + length);
  }
  return all;
}

task<void> ask(loop& l, const endpoint& where) {
  traffic unused;
  connection c{l, unused};
  const connect_failure failure = co_await c.connect(where, l.now() + 10s);
  assert(failure.error == 0);
  try {
    const answer said = co_await c.query("SELECT 1", l.now() + 10s);
    for (std::size_t i = 0; i < said.rows(); ++i) {
      const row r = said.at(i);
      for (std::size_t column = 0; column < r.cells(); ++column) r.cell(column);
    }
  } catch (const no_server&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static speaker* const peer = [] {
    prepare_library();
    return new speaker;  // its thread ends with the process
  }();
  const std::string_view input{reinterpret_cast<const char*>(data), size};
  peer->answer = input.starts_with('\1') ? framed(input.substr(1)) : std::string{input};
  real_clock clock;
  loop l{clock};
  run_to_end(l, ask(l, peer->where));
  return 0;
}
