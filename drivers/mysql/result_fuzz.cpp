// Any bytes as what a MySQL server answers to a statement, through the client library and a socket:
// an answer, or no_server, and at once, because the server hangs up after them.
//
// The library is not instrumented: what it does wrong shows where it meets the allocator, or us.
// An input that begins with a 1 is packets, each with its length in one byte before it.
#include <cassert>
#include <cstdint>

#include "drivers/mysql/connection.hpp"
#include "drivers/mysql/fake_server.hpp"
#include "harness/async/scope.hpp"

namespace {

using namespace lockmark;
using namespace lockmark::mysql;
using namespace std::chrono_literals;

// A server is replaced after so many clients: it keeps their threads until its end.
constexpr int clients_of_a_server = 64;

std::string bytes_to_say;

fake::script script() {
  fake::script s;
  s.answer = [](std::string_view) {
    return fake::reply{.bytes = bytes_to_say, .then_hangs_up = true};
  };
  return s;
}

std::string framed(std::string_view input) {
  std::string all;
  for (std::uint8_t number = 1; !input.empty(); ++number) {
    const auto length = std::min<std::size_t>(static_cast<unsigned char>(input[0]),
                                              input.size() - 1);
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
  static int clients = 0;
  static std::unique_ptr<fake::server> peer;
  static endpoint where;
  if (clients++ % clients_of_a_server == 0) {
    prepare_library();
    peer.reset();
    peer = std::make_unique<fake::server>(script());
    where = read_servers(peer->url()).hosts[0];
  }
  const std::string_view input{reinterpret_cast<const char*>(data), size};
  bytes_to_say = input.starts_with('\1') ? framed(input.substr(1)) : std::string{input};
  real_clock clock;
  loop l{clock};
  run_to_end(l, ask(l, where));
  return 0;
}
