// MariaDB Connector/C: each call of its API exists in two halves, _start and _cont, which run it on
// a stack of its own.
#include <fcntl.h>
#include <mysql.h>
#include <sys/socket.h>

#include <algorithm>

// Oracle's library has a header of the same name. MariaDB's also defines MYSQL_VERSION_ID, so its
// own macro is tested.
#ifndef MARIADB_PACKAGE_VERSION
#error \
    "This mysql.h is not MariaDB's: install libmariadb-dev (or Debian's \
default-libmysqlclient-dev), or configure with -DLOCKMARK_MYSQL_CLIENT=mysql for MySQL's own."
#endif
#include <ma_pvio.h>

#include "drivers/mysql/client.hpp"
#include "drivers/mysql/client_state.hpp"
#include "drivers/mysql/limits.hpp"
#include "harness/async/fd_watch.hpp"
#include "harness/base/process.hpp"

namespace lockmark::mysql {
namespace {

unsigned events_of(int wanted) {
  return ((wanted & MYSQL_WAIT_READ) != 0 ? fd_watch::readable : 0U) |
         ((wanted & MYSQL_WAIT_WRITE) != 0 ? fd_watch::writable : 0U);
}

int happened_of(unsigned events) {
  if (events == 0) return MYSQL_WAIT_TIMEOUT;
  return ((events & fd_watch::readable) != 0 ? MYSQL_WAIT_READ : 0) |
         ((events & fd_watch::writable) != 0 ? MYSQL_WAIT_WRITE : 0);
}

// The library makes the socket blocking for the TLS handshake and leaves it so: a later read would
// stop this thread, with all its connections, until the server sends something.
void stop_blocking(int fd) {
  const int flags = fcntl(fd, F_GETFL);
  if (flags >= 0) fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

void ask_for_tls(MYSQL& library, const config::tls_access& tls) {
  const my_bool enforced = 1;
  const my_bool verified = tls.verify ? 1 : 0;
  mysql_options(&library, MYSQL_OPT_SSL_ENFORCE, &enforced);
  mysql_options(&library, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &verified);
  if (!tls.ca.empty()) mysql_options(&library, MYSQL_OPT_SSL_CA, tls.ca.c_str());
  if (!tls.cert.empty()) mysql_options(&library, MYSQL_OPT_SSL_CERT, tls.cert.c_str());
  if (!tls.key.empty()) mysql_options(&library, MYSQL_OPT_SSL_KEY, tls.key.c_str());
}

struct mariadb_state final : client_state {
  MYSQL* logged_in = nullptr;
  int refused = 0;  // what the query's call returned
  int wanted = 0;   // events that the library waits for; 0: its call has ended
  bool with_tls = false;

  awaited need() {
    awaited a;
    a.over = wanted == 0;
    a.events = events_of(wanted);
    if ((wanted & MYSQL_WAIT_TIMEOUT) != 0) {
      a.at_most = std::chrono::milliseconds{mysql_get_timeout_value_ms(library)};
    }
    if (a.over && now == call::log_in && with_tls && logged_in != nullptr) {
      stop_blocking(mysql_get_socket(library));
    }
    return a;
  }

  void step(int happened) {
    switch (now) {
      case call::log_in: wanted = mysql_real_connect_cont(&logged_in, library, happened); break;
      case call::query: wanted = mysql_real_query_cont(&refused, library, happened); break;
      case call::fetch: wanted = mysql_fetch_row_cont(&row, result, happened); break;
      case call::none: break;
    }
  }

  // The call in progress owns memory on its own stack, so it gets time-outs until it has returned.
  // Its socket can no longer send or receive, so nothing waits.
  void cut() {
    const int fd = mysql_get_socket(library);
    if (fd >= 0) shutdown(fd, SHUT_RDWR);
    while (wanted != 0) step(MYSQL_WAIT_TIMEOUT);
  }
};

mariadb_state& own(client_state& s) {
  return static_cast<mariadb_state&>(s);
}

}  // namespace

void prepare_library() {
  mysql_server_init(0, nullptr, nullptr);
}

// From MariaDB 11.4 on, a server does so for a library from 3.4 on.
bool library_proves_certificates() {
  constexpr unsigned long from = 3'04'00;
  return mysql_get_client_version() >= from;
}

client::client() : state_(std::make_unique<mariadb_state>()) {
  mariadb_state& s = own(*state_);
  s.library = mysql_init(nullptr);
  if (s.library == nullptr) throw std::bad_alloc();
  mysql_options(s.library, MYSQL_OPT_NONBLOCK, nullptr);
  // Otherwise "localhost" means a Unix socket, whatever the port.
  const unsigned protocol = MYSQL_PROTOCOL_TCP;
  mysql_options(s.library, MYSQL_OPT_PROTOCOL, &protocol);
  // The library knows only where its plugins were when it was built; a package may bring its own.
  static const auto plugins = find_helper("mariadb_plugins");
  if (plugins) mysql_options(s.library, MYSQL_PLUGIN_DIR, plugins->c_str());
}

client::~client() {
  if (state_->library == nullptr) return;
  own(*state_).cut();
  forget_rows();
  mysql_close(state_->library);
}

awaited client::log_in(const endpoint& where) {
  mariadb_state& s = own(*state_);
  s.with_tls = where.tls.on;
  if (where.tls.on) ask_for_tls(*s.library, where.tls);
  set_limits(*s.library, where.tls.on && where.tls.verify);
  s.now = client_state::call::log_in;
  // CLIENT_FOUND_ROWS: an UPDATE counts the rows it finds, even unchanged ones, as in Java's
  // drivers.
  s.wanted = mysql_real_connect_start(
      &s.logged_in, s.library, where.host.c_str(), where.user.c_str(), where.password.c_str(),
      where.database.c_str(), where.port, nullptr, CLIENT_FOUND_ROWS);
  return s.need();
}

awaited client::query(std::string_view sql) {
  mariadb_state& s = own(*state_);
  s.now = client_state::call::query;
  s.wanted = mysql_real_query_start(&s.refused, s.library, sql.data(), sql.size());
  return s.need();
}

awaited client::fetch() {
  mariadb_state& s = own(*state_);
  s.now = client_state::call::fetch;
  s.row = nullptr;
  s.wanted = mysql_fetch_row_start(&s.row, s.result);
  return s.need();
}

awaited client::go_on(unsigned events) {
  mariadb_state& s = own(*state_);
  s.step(happened_of(events));
  return s.need();
}

bool client::failed() const {
  using call = client_state::call;
  const mariadb_state& s = own(*state_);
  switch (s.now) {
    case call::log_in: return s.logged_in == nullptr;
    case call::query: return s.refused != 0;
    case call::fetch: return s.row == nullptr && error() != 0;
    case call::none: break;
  }
  return false;
}

unsigned client::error() const {
  return mysql_errno(state_->library);
}

std::string client::text() const {
  return mysql_error(state_->library);
}

bool client::too_large() const {
  constexpr unsigned char would_not_grow = 1;
  return state_->library->net.error == would_not_grow;
}

// A result that knows its connection would make the library read on to the end of the rows.
void client::forget_rows() {
  if (state_->result == nullptr) return;
  state_->result->handle = nullptr;
  mysql_free_result(std::exchange(state_->result, nullptr));
}

int client::socket() const {
  return mysql_get_socket(state_->library);
}

// The library counts the bytes of its socket, and forgets them with it.
client::count client::bytes() const {
  const MARIADB_PVIO* const socket = state_->library->net.pvio;
  if (socket == nullptr) return {};
  return {socket->bytes_read, socket->bytes_sent};
}

}  // namespace lockmark::mysql
