// MySQL's own library, from 8.4 on: its _nonblocking calls are repeated until they are complete.
// They do not say what they wait for.
#include <mysql.h>
#include <sys/socket.h>

#include <algorithm>

#ifdef MARIADB_PACKAGE_VERSION
#error \
    "This mysql.h is MariaDB's: install libmysqlclient-dev from MySQL, or configure with \
-DLOCKMARK_MYSQL_CLIENT=mariadb."
#endif
#if MYSQL_VERSION_ID < 80400
#error "drivers/mysql needs MySQL's client library from version 8.4 on."
#endif

#include "drivers/mysql/client.hpp"
#include "drivers/mysql/limits.hpp"
#include "drivers/mysql/socket_bytes.hpp"
#include "harness/async/fd_watch.hpp"

namespace lockmark::mysql {
namespace {

using namespace std::chrono_literals;

enum class call { none, log_in, query, fetch };

// Some steps of a login are not complete although nothing is missing from the socket: an
// authentication plugin only wants to be called again.
constexpr duration login_step = 1ms;
// What does not fit into the socket at once is sent on from time to time: no statement here is so
// long that this would show.
constexpr duration send_step = 100ms;

constexpr unsigned out_of_sync = 2014;

// The server's error in place of a row: 0xff, its number, and (protocol 4.1) '#' and five bytes of
// state before its text.
struct said_error {
  unsigned number = 0;
  std::string text;
};

// The library takes such an answer for one that came out of turn, and says only that. What the
// server has said is still in its buffer.
said_error error_in_place_of_a_row(const MYSQL& library) {
  constexpr std::ptrdiff_t header = 3, state = 6;
  const unsigned char* at = library.net.read_pos;
  const unsigned char* const end = library.net.buff_end;
  if (at == nullptr || end - at <= header + state || *at != 0xff) return {};
  said_error said{at[1] + (unsigned{at[2]} << 8), {}};
  at += at[header] == '#' ? header + state : header;
  said.text.assign(at, std::find(at, end, '\0'));  // the library has put one after the packet
  return said;
}

void ask_for_tls(MYSQL& library, const config::tls_access& tls) {
  const unsigned mode = !tls.on      ? SSL_MODE_DISABLED
                        : tls.verify ? SSL_MODE_VERIFY_IDENTITY
                                     : SSL_MODE_REQUIRED;
  mysql_options(&library, MYSQL_OPT_SSL_MODE, &mode);
  if (!tls.ca.empty()) mysql_options(&library, MYSQL_OPT_SSL_CA, tls.ca.c_str());
  if (!tls.cert.empty()) mysql_options(&library, MYSQL_OPT_SSL_CERT, tls.cert.c_str());
  if (!tls.key.empty()) mysql_options(&library, MYSQL_OPT_SSL_KEY, tls.key.c_str());
}

}  // namespace

void prepare_library() {
  mysql_library_init(0, nullptr, nullptr);
}

bool library_proves_certificates() {
  return false;
}

struct client::state {
  MYSQL* library = nullptr;
  MYSQL_RES* result = nullptr;
  MYSQL_ROW row = nullptr;
  const endpoint* where = nullptr;
  std::string_view sql;
  call now = call::none;
  bool is_refused = false;  // the last call
  said_error said;          // what the library did not report of it

  net_async_status repeat() {
    switch (now) {
      case call::log_in:
        return mysql_real_connect_nonblocking(library, where->host.c_str(), where->user.c_str(),
                                              where->password.c_str(), where->database.c_str(),
                                              where->port, nullptr, CLIENT_FOUND_ROWS);
      case call::query: return mysql_real_query_nonblocking(library, sql.data(), sql.size());
      case call::fetch: return mysql_fetch_row_nonblocking(result, &row);
      case call::none: break;
    }
    return NET_ASYNC_COMPLETE;
  }

  awaited step() {
    const net_async_status end = repeat();
    if (end == NET_ASYNC_NOT_READY) {
      return {.over = false,
              .events = fd_watch::readable,
              .at_most = now == call::log_in ? login_step : send_step};
    }
    is_refused = end == NET_ASYNC_ERROR || (now == call::fetch && row == nullptr && errs());
    said = is_refused && mysql_errno(library) == out_of_sync ? error_in_place_of_a_row(*library)
                                                             : said_error{};
    return {};
  }

  bool errs() const { return mysql_errno(library) != 0; }

  // The library has told its network layer of the socket only once it is connected.
  int socket() const {
    const bool begins = now == call::log_in && mysql_get_connect_nonblocking_stage(library) <=
                                                   CONNECT_STAGE_NET_COMPLETE_CONNECT;
    return begins || library->net.vio == nullptr ? -1 : library->net.fd;
  }
};

client::client() : state_(std::make_unique<state>()) {
  state& s = *state_;
  s.library = mysql_init(nullptr);
  if (s.library == nullptr) throw std::bad_alloc();
  // Otherwise "localhost" means a Unix socket, whatever the port.
  const unsigned protocol = MYSQL_PROTOCOL_TCP;
  mysql_options(s.library, MYSQL_OPT_PROTOCOL, &protocol);
  const unsigned long packet = packet_limit;
  mysql_options(s.library, MYSQL_OPT_MAX_ALLOWED_PACKET, &packet);
  const unsigned no = 0;
  mysql_options(s.library, MYSQL_OPT_LOCAL_INFILE, &no);
  // Only the logins that the library brings along: it would load any plugin that a server names.
  mysql_options(s.library, MYSQL_PLUGIN_DIR, "/dev/null");
  // As MariaDB's library does: without TLS, caching_sha2_password encrypts the password with it.
  const bool yes = true;
  mysql_options(s.library, MYSQL_OPT_GET_SERVER_PUBLIC_KEY, &yes);
}

client::~client() {
  if (state_->library == nullptr) return;
  cut();
  forget_rows();
  mysql_close(state_->library);
}

awaited client::log_in(const endpoint& where) {
  ask_for_tls(*state_->library, where.tls);
  state_->where = &where;
  state_->now = call::log_in;
  return state_->step();
}

awaited client::query(std::string_view sql) {
  state_->sql = sql;
  state_->now = call::query;
  return state_->step();
}

awaited client::fetch() {
  state_->row = nullptr;
  state_->now = call::fetch;
  return state_->step();
}

awaited client::go_on(unsigned) {
  return state_->step();
}

bool client::failed() const {
  return state_->is_refused;
}

unsigned client::error() const {
  return state_->said.number != 0 ? state_->said.number : mysql_errno(state_->library);
}

std::string client::text() const {
  return state_->said.number != 0 ? state_->said.text : mysql_error(state_->library);
}

// The library says so by an error of its own.
bool client::too_large() const {
  return false;
}

bool client::has_rows() const {
  return mysql_field_count(state_->library) != 0;
}

bool client::begin_rows() {
  state_->result = mysql_use_result(state_->library);
  return state_->result != nullptr;
}

std::uint64_t client::affected() const {
  return mysql_affected_rows(state_->library);
}

const char* const* client::row() const {
  return state_->row;
}

const unsigned long* client::lengths() const {
  return mysql_fetch_lengths(state_->result);
}

std::size_t client::columns() const {
  return mysql_num_fields(state_->result);
}

// A result that knows its connection would make the library read on to the end of the rows, and the
// connection would mark a result that is gone.
void client::forget_rows() {
  state& s = *state_;
  if (s.result == nullptr) return;
  s.result->handle = nullptr;
  s.library->unbuffered_fetch_owner = nullptr;
  mysql_free_result(std::exchange(s.result, nullptr));
}

int client::socket() const {
  return state_->socket();
}

unsigned long client::id() const {
  return mysql_thread_id(state_->library);
}

bool client::encrypted() const {
  return mysql_get_ssl_cipher(state_->library) != nullptr;
}

client::count client::bytes() const {
  const socket_bytes carried = bytes_of(socket());
  return {carried.in, carried.out};
}

void client::say_goodbye() {
  forget_rows();
  mysql_close(std::exchange(state_->library, nullptr));
}

void client::cut() {
  const int fd = socket();
  if (fd >= 0) shutdown(fd, SHUT_RDWR);
}

}  // namespace lockmark::mysql
