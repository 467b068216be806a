// The login of a connection, and what a server may not get: a password that others could read.
#include <fmt/core.h>
#include <libpq-fe.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <new>
#include <optional>

#include "drivers/postgres/connection.hpp"
#include "drivers/postgres/wire_bytes.hpp"
#include "harness/async/fd_watch.hpp"

namespace lockmark::postgres {
namespace {

using reason = connect_failure::reason;

// An honest login has a few hundred bytes, with TLS a few thousand.
constexpr std::uint64_t longest_login = 256 * 1024;

// Where Debian, Fedora and Alpine keep the certificates of public authorities: libpq has no word
// for them before version 16.
constexpr const char* public_authorities = "/etc/ssl/certs/ca-certificates.crt";

// The library warns of what a server remarks, on standard error.
void ignore_notice(void*, const PGresult*) {}

bool knows_option(std::string_view name) {
  PQconninfoOption* const all = PQconndefaults();
  bool found = false;
  for (const PQconninfoOption* o = all; o != nullptr && o->keyword != nullptr; ++o) {
    found = found || name == o->keyword;
  }
  PQconninfoFree(all);
  return found;
}

// From libpq 16 on the library itself refuses logins that it is told to refuse.
bool library_refuses_logins() {
  static const bool known = knows_option("require_auth");
  return known;
}

// Whether only the intended server can read the login.
bool is_private(const endpoint& where) {
  return where.sslmode == "verify-full";
}

// Names and values for the library, which copies them. An empty value is none.
struct login_options {
  std::vector<const char*> names;
  std::vector<const char*> values;
  void add(const char* name, const char* value) {
    names.push_back(name);
    values.push_back(value);
  }
  void add(const char* name, const std::string& value) { add(name, value.c_str()); }
};

bool is_state(std::string_view text) {
  return text.size() == 5 && std::ranges::all_of(text, [](char c) {
           return std::isdigit(static_cast<unsigned char>(c)) != 0 || (c >= 'A' && c <= 'Z');
         });
}

// In the library's verbose form: "...: FATAL:  28P01: password authentication failed for ...".
bool find_state(std::string_view said, std::string& state, std::string& words) {
  constexpr std::string_view mark = ":  ";
  for (auto at = said.find(mark); at != said.npos; at = said.find(mark, at + 1)) {
    const std::string_view rest = said.substr(at + mark.size());
    if (!is_state(rest.substr(0, 5)) || rest.substr(5, 2) != ": ") continue;
    state = rest.substr(0, 5);
    words = rest.substr(7);
    words.resize(std::min(words.size(), words.find('\n')));
    return true;
  }
  return false;
}

}  // namespace

// What is left empty here libpq takes from its usual places: PGPASSWORD, ~/.pgpass, PGOPTIONS.
void connection::begin_login() {
  const endpoint& e = *where_;
  const std::string port = fmt::format("{}", e.port);
  login_options o;
  o.add("host", e.host);
  o.add("port", port);
  o.add("user", e.user);
  o.add("password", e.password);
  o.add("dbname", e.database);
  o.add("sslmode", e.sslmode);
  const bool verifies = e.sslmode.starts_with("verify");
  o.add("sslrootcert", e.tls.ca.empty() && verifies ? public_authorities : e.tls.ca.c_str());
  o.add("sslcert", e.tls.cert);
  o.add("sslkey", e.tls.key);
  o.add("gssencmode", "disable");
  o.add("target_session_attrs", "any");
  o.add("client_encoding", "UTF8");
  o.add("application_name", "lockmark");
  if (library_refuses_logins() && !is_private(e)) o.add("require_auth", "!password");
  o.add(nullptr, nullptr);
  handle_ = PQconnectStartParams(o.names.data(), o.values.data(), 0);
  if (handle_ == nullptr) throw std::bad_alloc();
  PQsetNoticeReceiver(handle_, ignore_notice, nullptr);
  PQsetErrorVerbosity(handle_, PQERRORS_VERBOSE);  // with the state
  pooled_ = tls_ = unsent_ = stirred_ = false;
  statements_ = 0;
  lock_timeout_ms = 0;
}

task<connect_failure> connection::connect(const endpoint& where, time_point deadline) {
  where_ = &where;
  begin_login();
  connect_failure failure = co_await log_in(deadline);
  if (failure.failed()) {
    drop();
    co_return failure;
  }
  PQsetErrorVerbosity(handle_, PQERRORS_DEFAULT);
  PQsetnonblocking(handle_, 1);
  tls_ = PQsslInUse(handle_) != 0;
  socket_watch::listener& self = *this;
  watch_ = std::make_unique<socket_watch>(loop_, PQsocket(handle_), self);
  co_return failure;
}

task<connect_failure> connection::log_in(time_point deadline) {
  int last_status = CONNECTION_BAD;
  auto wants = PQstatus(handle_) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING;
  while (wants != PGRES_POLLING_OK && wants != PGRES_POLLING_FAILED) {
    // A new watch each time: the library may try several addresses, each with its own socket.
    std::optional<fd_watch> watch{std::in_place, loop_, PQsocket(handle_)};
    const unsigned wanted =
        wants == PGRES_POLLING_READING ? fd_watch::readable : fd_watch::writable;
    const unsigned events = co_await watch->wait(wanted, deadline);
    watch.reset();
    if (events == 0) co_return connect_failure{reason::timed_out, "", ""};
    if (is_asked_for_plain_password()) co_return connect_failure{reason::plain_password, "", ""};
    if (bytes_through(PQsocket(handle_)).in > longest_login) {
      co_return connect_failure{reason::nonsense, "", "a login without end"};
    }
    last_status = PQstatus(handle_);
    wants = PQconnectPoll(handle_);
  }
  if (wants == PGRES_POLLING_OK) co_return connect_failure{};
  co_return failure_of_login(last_status);
}

// What the server is about to ask for, before the library answers. libpq cannot be told until
// version 16 not to send a password as it is. Not seen behind TLS.
bool connection::is_asked_for_plain_password() const {
  if (PQstatus(handle_) != CONNECTION_AWAITING_RESPONSE) return false;
  // A message is a letter, its length in four bytes, and here a number in four bytes.
  constexpr std::array<unsigned char, 9> asks{'R', 0, 0, 0, 8, 0, 0, 0, 3};
  std::array<unsigned char, asks.size()> next{};
  const ssize_t got = recv(PQsocket(handle_), next.data(), next.size(), MSG_PEEK | MSG_DONTWAIT);
  return got == static_cast<ssize_t>(next.size()) && next == asks && PQsslInUse(handle_) == 0;
}

// `last_status`: of the library before its last step.
connect_failure connection::failure_of_login(int last_status) const {
  const std::string_view said = PQerrorMessage(handle_);
  connect_failure failure{reason::nonsense, "", quotable(said, 500)};
  std::string words;
  const bool by_library = said.find("method requirement") != said.npos;
  if (find_state(said, failure.sqlstate, words)) {
    failure.why = reason::refused;
    failure.text = quotable(words, 500);
  } else if (last_status == CONNECTION_SSL_STARTUP || last_status == CONNECTION_MADE) {
    failure.why = where_->sslmode == "disable" ? reason::nonsense : reason::tls;
  } else if (by_library) {
    failure.why = reason::plain_password;
  } else if (last_status != CONNECTION_AWAITING_RESPONSE && last_status != CONNECTION_AUTH_OK) {
    failure.why = reason::unreachable;
  }
  return failure;
}

}  // namespace lockmark::postgres
