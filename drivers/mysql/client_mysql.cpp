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
#include "drivers/mysql/client_state.hpp"
#include "drivers/mysql/limits.hpp"
#include "drivers/mysql/socket_bytes.hpp"
#include "harness/async/fd_watch.hpp"

namespace lockmark::mysql {
namespace {

using namespace std::chrono_literals;

// Some steps of a login are not complete although nothing is missing from the socket: an
// authentication plugin only wants to be called again.
constexpr duration login_step = 1ms;
// A statement of this size fits into an idle connection's socket at once; of what is longer, the
// rest is sent on from time to time. The locks' statements are shorter.
constexpr std::size_t sent_at_once = 4096;
constexpr duration send_step = 10ms;

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

struct mysql_state final : client_state {
  const endpoint* where = nullptr;
  std::string_view sql;
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
    if (end == NET_ASYNC_NOT_READY) return need();
    is_refused = end == NET_ASYNC_ERROR || (now == call::fetch && row == nullptr && errs());
    said = is_refused && mysql_errno(library) == out_of_sync ? error_in_place_of_a_row(*library)
                                                             : said_error{};
    return {};
  }

  // The library names nothing that it waits for.
  awaited need() const {
    awaited a{.over = false, .events = fd_watch::readable};
    if (now == call::log_in) a.at_most = login_step;
    if (now == call::query && sql.size() > sent_at_once) a.at_most = send_step;
    return a;
  }

  bool errs() const { return mysql_errno(library) != 0; }

  // The library has told its network layer of the socket only once it is connected.
  int socket() const {
    const bool begins = now == call::log_in && mysql_get_connect_nonblocking_stage(library) <=
                                                   CONNECT_STAGE_NET_COMPLETE_CONNECT;
    return begins || library->net.vio == nullptr ? -1 : library->net.fd;
  }

  void cut() const {
    const int fd = socket();
    if (fd >= 0) shutdown(fd, SHUT_RDWR);
  }
};

mysql_state& own(client_state& s) {
  return static_cast<mysql_state&>(s);
}

}  // namespace

void prepare_library() {
  mysql_library_init(0, nullptr, nullptr);
}

bool library_proves_certificates() {
  return false;
}

client::client() : state_(std::make_unique<mysql_state>()) {
  mysql_state& s = own(*state_);
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
  own(*state_).cut();
  forget_rows();
  mysql_close(state_->library);
}

awaited client::log_in(const endpoint& where) {
  mysql_state& s = own(*state_);
  ask_for_tls(*s.library, where.tls);
  s.where = &where;
  s.now = client_state::call::log_in;
  return s.step();
}

awaited client::query(std::string_view sql) {
  mysql_state& s = own(*state_);
  s.sql = sql;
  s.now = client_state::call::query;
  return s.step();
}

awaited client::fetch() {
  mysql_state& s = own(*state_);
  s.row = nullptr;
  s.now = client_state::call::fetch;
  return s.step();
}

awaited client::go_on(unsigned) {
  return own(*state_).step();
}

bool client::failed() const {
  return own(*state_).is_refused;
}

unsigned client::error() const {
  const said_error& said = own(*state_).said;
  return said.number != 0 ? said.number : mysql_errno(state_->library);
}

std::string client::text() const {
  const said_error& said = own(*state_).said;
  return said.number != 0 ? said.text : mysql_error(state_->library);
}

// The library says so by an error of its own.
bool client::too_large() const {
  return false;
}

// A result that knows its connection would make the library read on to the end of the rows, and the
// connection would mark a result that is gone.
void client::forget_rows() {
  mysql_state& s = own(*state_);
  if (s.result == nullptr) return;
  s.result->handle = nullptr;
  s.library->unbuffered_fetch_owner = nullptr;
  mysql_free_result(std::exchange(s.result, nullptr));
}

int client::socket() const {
  return own(*state_).socket();
}

client::count client::bytes() const {
  const socket_bytes carried = bytes_of(socket());
  return {carried.in, carried.out};
}

}  // namespace lockmark::mysql
