// For tests: a PostgreSQL server that follows a script, true or not, byte by byte if need be.
//
// A real socket and the real protocol (3.0, extended queries, text results) without a database. It
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

namespace lockmark::postgres::fake {

// A letter, the length, the payload; and its numbers.
std::string message(char letter, std::string_view payload);
std::string number(std::uint32_t value, int bytes);

using cells = std::vector<std::optional<std::string>>;  // no value: NULL

// Whole answers.
std::string done(std::string_view tag = "SELECT 0");
std::string error(std::string_view sqlstate, std::string_view words,
                  std::string_view severity = "ERROR");
std::string result(const cells& names, const std::vector<cells>& rows);

// Their parts, for inconsistent answers.
std::string description(const cells& names);
std::string row(const cells& values);
std::string parameter(std::string_view name, std::string_view value);

// What follows a good login: it is one, and the server is ready. The session's process is 7.
std::string welcome();
// A demand for a password: 3 as it is, 5 hashed.
std::string demand_password(std::uint32_t how);

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
  char tls = 'N';  // the answer to who asks for it
  // To the login and to each further message of it, until a reply ends with "ready".
  std::function<reply(std::string_view said)> login = [](std::string_view) {
    return reply{welcome()};
  };
  std::function<reply(std::string_view statement)> answer = [](std::string_view) {
    return reply{done()};
  };
};

// The answer to the first statement of every connection: this is the writable server itself.
std::optional<reply> route_answer(std::string_view statement);

class server {
 public:
  explicit server(script says);
  ~server();
  server(const server&) = delete;
  server& operator=(const server&) = delete;

  std::uint16_t port() const;
  // "postgres://somebody:hunter2@127.0.0.1:PORT/lockmark"
  std::string url() const;
  // All bytes that clients have sent so far.
  std::string received() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace lockmark::postgres::fake
