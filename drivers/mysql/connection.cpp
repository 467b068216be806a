#include "drivers/mysql/connection.hpp"

#include <fmt/core.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "drivers/mysql/errors.hpp"
#include "drivers/mysql/limits.hpp"

namespace lockmark::mysql {

connection::connection(loop& l, traffic& sent) : loop_(l), sent_(sent) {}

connection::~connection() {
  drop();
}

task<connect_failure> connection::connect(const endpoint& where, time_point deadline) {
  where_ = &where;
  client_ = std::make_unique<client>();
  counted_ = {};
  phase_ = phase::connecting;
  wanted_ = client_->log_in(where);
  connect_failure failure;
  while (!wanted_.over) {
    // A new watch each time: the library may try several addresses, each with its own socket.
    const int fd = client_->socket();
    if (fd >= 0) watch_ = std::make_unique<fd_watch>(loop_, fd);
    const std::optional<unsigned> happened = co_await wait(deadline);
    watch_.reset();
    if (!happened) {
      failure.error = connect_failure::timed_out;
      drop();
      co_return failure;
    }
    wanted_ = client_->go_on(*happened);
  }
  count_bytes();
  phase_ = phase::idle;
  failure = login_failure();
  if (failure.error != 0) {
    drop();
    co_return failure;
  }
  watch_ = std::make_unique<fd_watch>(loop_, client_->socket());
  co_return failure;
}

// The library may accept a server without TLS unless it verifies the certificate.
connect_failure connection::login_failure() const {
  if (client_->failed()) {
    const unsigned error = client_->error();
    return {error != 0 ? error : connect_failure::nonsense, quotable(client_->text(), 500)};
  }
  if (where_->tls.on && !client_->encrypted()) {
    return {connect_failure::no_tls, "the server has no TLS"};
  }
  return {};
}

// The events that the client waited for; none of them: it wants to go on without. Nothing: `until`
// came first.
task<std::optional<unsigned>> connection::wait(time_point until) {
  time_point again = time_point::max();
  if (wanted_.at_most) again = loop_.now() + *wanted_.at_most;
  unsigned events = 0;
  if (watch_ != nullptr) {
    events = co_await watch_->wait(wanted_.events, std::min(until, again));
  } else {
    co_await loop_.sleep_until(std::min(until, again));
  }
  if (events == 0 && again >= until) co_return std::nullopt;
  co_return events;
}

void connection::send(std::string sql) {
  sql_ = std::move(sql);
  answer_ = {};
  answer_.from = where_;
  nonsense_.clear();
  ++sent_.commands;
  ++sent_.round_trips;
  phase_ = phase::querying;
  wanted_ = client_->query(sql_);
  settle();
}

// Starts the next call once the client has finished one.
void connection::settle() {
  if (wanted_.over && phase_ == phase::querying) {
    if (client_->failed()) return fail();
    if (!client_->has_rows()) {
      answer_.affected = client_->affected();
      return end_answer();
    }
    if (!client_->begin_rows()) return fail();
    phase_ = phase::fetching;
    fetch();
  }
  while (wanted_.over && phase_ == phase::fetching) keep_row();
}

void connection::fail() {
  answer_.error = client_->error();
  answer_.text = quotable(client_->text(), 500);
  // The library reports a lost connection then, because it has ended the connection itself.
  if (nonsense_.empty() && client_->too_large()) {
    nonsense_ = fmt::format("a packet of more than {} bytes", packet_limit);
  }
  const bool unsaid = answer_.error == 0;  // e.g. fewer columns than announced
  if (nonsense_.empty() && unsaid) nonsense_ = "a result of which a part is missing";
  if (nonsense_.empty() && is_nonsense(answer_.error)) nonsense_ = answer_.text;
  if (!nonsense_.empty() || ends_connection(answer_.error)) {
    answer_.unknown = doubt::connection_lost;
    drop();
  }
  end_answer();
}

void connection::fetch() {
  wanted_ = client_->fetch();
}

// The client has read a row, or there are no more.
void connection::keep_row() {
  if (client_->failed()) return fail();
  if (client_->row() == nullptr) return end_answer();
  if (answer_.add(client_->row(), client_->lengths(), client_->columns())) return fetch();
  nonsense_ = fmt::format("more than {} bytes of rows", rows_limit);
  fail();
}

void connection::end_answer() {
  if (client_ != nullptr) client_->forget_rows();
  count_bytes();
  phase_ = phase::finished;
}

task<bool> connection::answered(time_point until) {
  while (phase_ != phase::finished) {
    const std::optional<unsigned> happened = co_await wait(until);
    if (!happened) co_return false;
    wanted_ = client_->go_on(*happened);
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
  if (client_ == nullptr) return true;
  char byte = 0;
  return recv(client_->socket(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 ||
         (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

unsigned long connection::id() const {
  return client_->id();
}

void connection::quit() {
  if (client_ == nullptr) return;
  if (phase_ != phase::idle) return drop();
  watch_.reset();
  client_->say_goodbye();
  client_.reset();
}

void connection::drop() {
  watch_.reset();
  client_.reset();
  wanted_ = {};
  phase_ = phase::idle;
}

// The last bytes of a lost connection are not counted.
void connection::count_bytes() {
  if (client_ == nullptr) return;
  const client::count now = client_->bytes();
  if (now.in < counted_.in || now.out < counted_.out) return;
  sent_.bytes_in += now.in - counted_.in;
  sent_.bytes_out += now.out - counted_.out;
  counted_ = now;
}

}  // namespace lockmark::mysql
