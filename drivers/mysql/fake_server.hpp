// For tests: a MySQL server that follows a script, true or not, byte by byte if need be.
//
// A real socket and the real protocol (handshake version 10, text results) without a database. It
// understands no SQL: the script answers each statement with bytes.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockmark::mysql::fake {

// A packet: its length, its number and the payload.
std::string packet(std::uint8_t number, std::string_view payload);
// Numbers and texts in the protocol's length-encoded form.
std::string number(std::uint64_t value);
std::string text(std::string_view value);

using cells = std::vector<std::optional<std::string>>;  // no value: NULL

// Whole answers. `status` is the server's status at the end, such as more results to come.
std::string ok(std::uint64_t affected = 0, std::uint8_t number = 1);
std::string error(std::uint16_t code, std::string_view words);
std::string result(const cells& names, const std::vector<cells>& rows, std::uint16_t status = 2);

// Their parts, for inconsistent answers.
std::string definition(std::string_view name);
std::string end_of_rows(std::uint16_t status = 2);
std::string row(const cells& values);
std::string in_packets(const std::vector<std::string>& payloads);  // numbered from 1

inline constexpr std::uint32_t with_tls = 0x800;
// The server's first message. Without `flags` it has no TLS.
std::string greeting(std::string_view plugin = "mysql_native_password", std::uint32_t flags = 0);
// "Log in by that plugin instead."
std::string other_login(std::string_view plugin);

// How bytes are sent: at once, or in pieces with pauses between; once or for ever.
struct reply {
  std::string bytes;
  std::size_t piece = 0;
  std::chrono::milliseconds pause{};
  bool for_ever = false;
  bool then_hangs_up = false;
};

// The replies. Each function is called on one of the server's threads.
struct script {
  reply first{greeting()};
  // To each message of the login, which continues while the reply is other_login().
  std::function<reply(std::string_view message)> login = [](std::string_view) {
    return reply{ok(0, 2)};
  };
  std::function<reply(std::string_view statement)> answer = [](std::string_view) {
    return reply{ok()};
  };
};

class server {
 public:
  explicit server(script says);
  ~server();
  server(const server&) = delete;
  server& operator=(const server&) = delete;

  std::uint16_t port() const;
  // "mysql://somebody:hunter2@127.0.0.1:PORT/lockmark"
  std::string url() const;
  // All bytes that clients have sent so far.
  std::string received() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace lockmark::mysql::fake
