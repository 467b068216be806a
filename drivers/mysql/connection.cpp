#include "drivers/mysql/connection.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <mysql.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>

#include "drivers/mysql/errors.hpp"
#include "drivers/mysql/limits.hpp"
#include "harness/base/process.hpp"

// Oracle's library has a header of the same name. MariaDB's also defines MYSQL_VERSION_ID, so its
// own macro is tested.
#ifndef MARIADB_PACKAGE_VERSION
#error \
    "drivers/mysql needs the non-blocking calls (_start, _cont) of MariaDB Connector/C, and this \
mysql.h is not MariaDB's: install libmariadb-dev (Debian: default-libmysqlclient-dev)."
#endif
#include <ma_pvio.h>

namespace lockmark::mysql {
namespace {

unsigned events_of(int wanted) {
  return ((wanted & MYSQL_WAIT_READ) != 0 ? fd_watch::readable : 0U) |
         ((wanted & MYSQL_WAIT_WRITE) != 0 ? fd_watch::writable : 0U);
}

int happened_of(unsigned events) {
  return ((events & fd_watch::readable) != 0 ? MYSQL_WAIT_READ : 0) |
         ((events & fd_watch::writable) != 0 ? MYSQL_WAIT_WRITE : 0);
}

}  // namespace

void prepare_library() {
  mysql_server_init(0, nullptr, nullptr);
}

connection::connection(loop& l, traffic& sent) : loop_(l), sent_(sent) {}

connection::~connection() {
  drop();
}

void connection::begin_connect() {
  handle_ = mysql_init(nullptr);
  if (handle_ == nullptr) throw std::bad_alloc();
  mysql_options(handle_, MYSQL_OPT_NONBLOCK, nullptr);
  // Otherwise "localhost" means a Unix socket, whatever the port.
  const unsigned protocol = MYSQL_PROTOCOL_TCP;
  mysql_options(handle_, MYSQL_OPT_PROTOCOL, &protocol);
  if (where_->tls.on) ask_for_tls();
  // The library knows only where its plugins were when it was built; a package may bring its own.
  static const auto plugins = find_helper("mariadb_plugins");
  if (plugins) mysql_options(handle_, MYSQL_PLUGIN_DIR, plugins->c_str());
  set_limits(*handle_, where_->tls.on && where_->tls.verify);
  counted_in_ = counted_out_ = 0;
  phase_ = phase::connecting;
  // CLIENT_FOUND_ROWS: an UPDATE counts the rows it finds, even unchanged ones, as in Java's
  // drivers.
  wanted_ = mysql_real_connect_start(
      &connect_result_, handle_, where_->host.c_str(), where_->user.c_str(),
      where_->password.c_str(), where_->database.c_str(), where_->port, nullptr, CLIENT_FOUND_ROWS);
}

void connection::ask_for_tls() {
  const config::tls_access& tls = where_->tls;
  const my_bool enforced = 1;
  const my_bool verified = tls.verify ? 1 : 0;
  mysql_options(handle_, MYSQL_OPT_SSL_ENFORCE, &enforced);
  mysql_options(handle_, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &verified);
  if (!tls.ca.empty()) mysql_options(handle_, MYSQL_OPT_SSL_CA, tls.ca.c_str());
  if (!tls.cert.empty()) mysql_options(handle_, MYSQL_OPT_SSL_CERT, tls.cert.c_str());
  if (!tls.key.empty()) mysql_options(handle_, MYSQL_OPT_SSL_KEY, tls.key.c_str());
}

// The library makes the socket blocking for the TLS handshake and leaves it so: a later read would
// stop this thread, with all its connections, until the server sends something.
static void stop_blocking(int fd) {
  const int flags = fcntl(fd, F_GETFL);
  if (flags >= 0) fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

task<connect_failure> connection::connect(const endpoint& where, time_point deadline) {
  where_ = &where;
  begin_connect();
  connect_failure failure;
  while (wanted_ != 0) {
    // A new watch each time: the library may try several addresses, each with its own socket.
    watch_ = std::make_unique<fd_watch>(loop_, mysql_get_socket(handle_));
    const int happened = co_await wait(deadline);
    watch_.reset();
    if (happened == 0) {
      failure.error = connect_failure::timed_out;
      drop();
      co_return failure;
    }
    step(happened);
  }
  count_bytes();
  phase_ = phase::idle;
  failure = login_failure();
  if (failure.error != 0) {
    drop();
    co_return failure;
  }
  const int fd = mysql_get_socket(handle_);
  if (where.tls.on) stop_blocking(fd);
  watch_ = std::make_unique<fd_watch>(loop_, fd);
  co_return failure;
}

// The library accepts a server without TLS unless it verifies the certificate.
connect_failure connection::login_failure() const {
  if (connect_result_ == nullptr) {
    const unsigned error = mysql_errno(handle_);
    return {error != 0 ? error : connect_failure::nonsense, quotable(mysql_error(handle_), 500)};
  }
  if (where_->tls.on && mysql_get_ssl_cipher(handle_) == nullptr) {
    return {connect_failure::no_tls, "the server has no TLS"};
  }
  return {};
}

// The events that the library waited for, in its own bits; 0: `until` came first.
task<int> connection::wait(time_point until) {
  time_point library_limit = time_point::max();
  if ((wanted_ & MYSQL_WAIT_TIMEOUT) != 0) {
    library_limit = loop_.now() + std::chrono::milliseconds{mysql_get_timeout_value_ms(handle_)};
  }
  const unsigned events = co_await watch_->wait(events_of(wanted_), std::min(until, library_limit));
  if (events != 0) co_return happened_of(events);
  co_return library_limit < until ? MYSQL_WAIT_TIMEOUT : 0;
}

// Lets the library continue its call in progress.
void connection::step(int happened) {
  switch (phase_) {
    case phase::connecting:
      wanted_ = mysql_real_connect_cont(&connect_result_, handle_, happened);
      break;
    case phase::querying: wanted_ = mysql_real_query_cont(&failed_, handle_, happened); break;
    case phase::fetching: wanted_ = mysql_fetch_row_cont(&row_, result_, happened); break;
    case phase::idle:
    case phase::finished: break;
  }
}

void connection::send(std::string sql) {
  sql_ = std::move(sql);
  answer_ = {};
  answer_.from = where_;
  nonsense_.clear();
  ++sent_.commands;
  ++sent_.round_trips;
  phase_ = phase::querying;
  wanted_ = mysql_real_query_start(&failed_, handle_, sql_.data(), sql_.size());
  settle();
}

// Starts the next call once the library has finished one.
void connection::settle() {
  if (wanted_ == 0 && phase_ == phase::querying) {
    if (failed_ != 0) return fail();
    if (mysql_field_count(handle_) == 0) {
      answer_.affected = mysql_affected_rows(handle_);
      return end_result();
    }
    result_ = mysql_use_result(handle_);
    if (result_ == nullptr) return fail();  // the columns' definitions are missing
    phase_ = phase::fetching;
    fetch();
  }
  while (wanted_ == 0 && phase_ == phase::fetching) keep_row();
}

void connection::fail() {
  answer_.error = mysql_errno(handle_);
  answer_.text = quotable(mysql_error(handle_), 500);
  // The library reports a lost connection then, because it has ended the connection itself.
  constexpr unsigned char would_not_grow = 1;
  if (nonsense_.empty() && handle_->net.error == would_not_grow) {
    nonsense_ = fmt::format("a packet of more than {} bytes", packet_limit);
  }
  const bool unsaid = answer_.error == 0;  // e.g. fewer columns than announced
  if (nonsense_.empty() && unsaid) nonsense_ = "a result of which a part is missing";
  if (nonsense_.empty() && is_nonsense(answer_.error)) nonsense_ = answer_.text;
  if (!nonsense_.empty() || ends_connection(answer_.error)) {
    answer_.unknown = doubt::connection_lost;
    drop();
  }
  count_bytes();
  phase_ = phase::finished;
}

void connection::fetch() {
  row_ = nullptr;
  wanted_ = mysql_fetch_row_start(&row_, result_);
}

// The library has read a row, or there are no more.
void connection::keep_row() {
  if (row_ == nullptr) return mysql_errno(handle_) != 0 ? fail() : end_result();
  if (answer_.add(row_, mysql_fetch_lengths(result_), mysql_num_fields(result_))) return fetch();
  nonsense_ = fmt::format("more than {} bytes of rows", rows_limit);
  fail();
}

void connection::end_result() {
  abandon_result();
  count_bytes();
  phase_ = phase::finished;
}

// A result that knows its connection would make the library read on to the end of the rows.
void connection::abandon_result() {
  if (result_ == nullptr) return;
  result_->handle = nullptr;
  mysql_free_result(std::exchange(result_, nullptr));
}

task<bool> connection::answered(time_point until) {
  while (phase_ != phase::finished) {
    const int happened = co_await wait(until);
    if (happened == 0) co_return false;
    step(happened);
    settle();
  }
  co_return true;
}

task<answer> connection::take(time_point deadline) {
  const bool in_time = co_await answered(deadline);
  if (!in_time) {
    drop();
    answer_.unknown = doubt::deadline;
  }
  phase_ = phase::idle;
  answer_.asked = std::move(sql_);
  if (!nonsense_.empty()) throw no_server(nonsense(answer_, nonsense_));
  co_return std::move(answer_);
}

task<answer> connection::query(std::string sql, time_point deadline) {
  send(std::move(sql));
  co_return co_await take(deadline);
}

// Between two statements a server sends nothing unless it closes the connection.
bool connection::broken() const {
  if (handle_ == nullptr) return true;
  char byte = 0;
  return recv(mysql_get_socket(handle_), &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 ||
         (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

unsigned long connection::id() const {
  return mysql_thread_id(handle_);
}

// The five bytes of the goodbye go to a socket with nothing else to send, so they never wait.
void connection::quit() {
  if (handle_ == nullptr) return;
  if (phase_ != phase::idle) return drop();
  watch_.reset();
  mysql_close(std::exchange(handle_, nullptr));
}

// The call in progress owns memory on its own stack, so it gets time-outs until it has returned.
// Its socket can no longer send or receive, so nothing waits.
void connection::drop() {
  if (handle_ == nullptr) return;
  watch_.reset();
  const int fd = mysql_get_socket(handle_);
  if (fd >= 0) shutdown(fd, SHUT_RDWR);
  while (wanted_ != 0) step(MYSQL_WAIT_TIMEOUT);
  abandon_result();
  mysql_close(std::exchange(handle_, nullptr));
  phase_ = phase::idle;
}

// The library counts the bytes of its socket; the last bytes of a lost connection are not counted.
void connection::count_bytes() {
  if (handle_ == nullptr || handle_->net.pvio == nullptr) return;
  const MARIADB_PVIO& socket = *handle_->net.pvio;
  sent_.bytes_in += socket.bytes_read - std::exchange(counted_in_, socket.bytes_read);
  sent_.bytes_out += socket.bytes_sent - std::exchange(counted_out_, socket.bytes_sent);
}

}  // namespace lockmark::mysql
