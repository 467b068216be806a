#include "drivers/postgres/connection.hpp"

#include <fmt/core.h>
#include <libpq-fe.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "drivers/postgres/errors.hpp"
#include "drivers/postgres/wire_bytes.hpp"

namespace lockmark::postgres {
namespace {

// What a server may send: for its login and for lists, and for each statement. The library keeps in
// memory whatever is announced and sent, and parameters and notes of the server for ever.
constexpr std::uint64_t allowance_bytes = std::uint64_t{1} << 20;
constexpr std::uint64_t allowance_per_statement = 1024;
constexpr std::uint64_t statements_per_look = 256;

// A TLS record is of 16 KiB at most, and the library reads no less than 8 KiB at a time. What it
// leaves of a record is in no socket, so no event tells of it.
constexpr int reads_of_a_record = 3;

}  // namespace

connection::connection(loop& l, traffic& sent) : loop_(l), sent_(sent), ended_(l) {}

connection::~connection() {
  drop();
}

void connection::note_process(std::uint64_t serving) {
  pooled_ = serving != static_cast<std::uint64_t>(PQbackendPID(handle_));
}

void connection::begin(bool together) {
  answer_ = {};
  answer_.from = where_;
  nonsense_.clear();
  together_ = together;
  finished_ = false;
  ended_.clear();
  ++sent_.round_trips;
  if (together && PQenterPipelineMode(handle_) == 0) lose();
}

void connection::note_sent(bool by_library, std::string_view sql) {
  ++sent_.commands;
  ++statements_;
  answer_.set_asked(sql);
  if (!by_library) lose();
}

void connection::send_one(const step& s) {
  if (finished_) return;  // the connection is gone
  const char* const* values = s.values.data();
  const bool sent = pooled_ ? PQsendQueryParams(handle_, s.what->sql.c_str(), s.count, nullptr,
                                                values, nullptr, nullptr, 0) != 0
                            : PQsendQueryPrepared(handle_, s.what->name.c_str(), s.count, values,
                                                  nullptr, nullptr, 0) != 0;
  note_sent(sent, s.what->sql);
}

void connection::send(const step& only) {
  begin(false);
  send_one(only);
  flush();
}

void connection::send(std::initializer_list<step> together) {
  begin(true);
  for (const step& s : together) send_one(s);
  finish_sending();
}

void connection::finish_sending() {
  if (!finished_ && PQpipelineSync(handle_) == 0) lose();
  flush();
}

task<answer> connection::greet(const greeting& hello, time_point deadline) {
  if (pooled_ || (hello.settings.empty() && hello.prepared.empty())) co_return answer{};
  begin(true);
  for (const std::string& sql : hello.settings) {
    if (finished_) break;
    note_sent(
        PQsendQueryParams(handle_, sql.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 0) != 0,
        sql);
  }
  for (const statement* s : hello.prepared) {
    if (finished_) break;
    note_sent(PQsendPrepare(handle_, s->name.c_str(), s->sql.c_str(), 0, nullptr) != 0, s->sql);
  }
  finish_sending();
  co_return co_await take(deadline);
}

task<answer> connection::query(std::string sql, time_point deadline) {
  begin(false);
  note_sent(PQsendQueryParams(handle_, sql.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 0) != 0,
            "");
  answer_.own_asked(std::move(sql));
  flush();
  co_return co_await take(deadline);
}

void connection::flush() {
  if (finished_) return;
  const int left = PQflush(handle_);
  if (left < 0) return lose();
  unsent_ = left > 0;
}

answer connection::answered() {
  if (!finished_) {
    drop();
    answer_.unknown = doubt::deadline;
  }
  if (!nonsense_.empty()) throw no_server(nonsense(answer_, nonsense_));
  return std::move(answer_);
}

task<answer> connection::take(time_point deadline) {
  co_await ended(deadline);
  co_return answered();
}

void connection::stirred(unsigned events) {
  stirred_ = true;
  if (finished_) return;
  if (unsent_ && (events & socket_watch::writable) != 0) flush();
  if ((events & socket_watch::readable) != 0) read();
}

// All there is, because nothing tells of it again.
void connection::read() {
  int rest_of_record = tls_ ? reads_of_a_record : 1;
  while (!finished_) {
    if (PQconsumeInput(handle_) == 0) return lose();
    stirred_ = false;
    collect();
    if (finished_) break;
    check_allowance();
    if (!finished_ && !has_more() && --rest_of_record == 0) return;
  }
  if (statements_ % statements_per_look == 0) check_allowance();
}

// Whether bytes, or the end of the connection, are to be read.
bool connection::has_more() const {
  char byte = 0;
  return recv(PQsocket(handle_), &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 ||
         (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

// The library's results that are complete. Asking for one that is not would block.
void connection::collect() {
  bool ended = false;  // the last one said that its statement has no more
  while (!finished_ && PQisBusy(handle_) == 0) {
    result_handle r{PQgetResult(handle_)};
    if (r) {
      ended = false;
      keep(std::move(r));
    } else if (!together_) {
      finish();
    } else if (std::exchange(ended, true)) {
      refuse_nonsense("more answers than there were statements");
    }
  }
}

void connection::keep(result_handle r) {
  switch (PQresultStatus(r.get())) {
    case PGRES_COMMAND_OK:
    case PGRES_TUPLES_OK:
      if (answer_.sqlstate.empty()) answer_.hold(std::move(r));
      return;
    case PGRES_FATAL_ERROR: return keep_error(*r);
    case PGRES_PIPELINE_ABORTED: return;  // because one before it failed
    case PGRES_PIPELINE_SYNC: return finish();
    default: return refuse_nonsense(PQresStatus(PQresultStatus(r.get())));
  }
}

// An error without a state is the library's own: it did not understand.
void connection::keep_error(const pg_result& r) {
  const auto field = [&r](int code) -> std::string_view {
    const char* const said = PQresultErrorField(&r, code);
    return said == nullptr ? "" : said;
  };
  const std::string_view state = field(PG_DIAG_SQLSTATE);
  if (state.empty()) return refuse_nonsense(quotable(PQresultErrorMessage(&r), 500));
  if (answer_.sqlstate.empty()) {
    answer_.sqlstate = quotable(state.substr(0, 5));
    answer_.text = quotable(field(PG_DIAG_MESSAGE_PRIMARY), 500);
  }
  const std::string_view severity = field(PG_DIAG_SEVERITY_NONLOCALIZED);
  if (severity == "FATAL" || severity == "PANIC") lose();
}

void connection::finish() {
  end();
  if (together_ && PQexitPipelineMode(handle_) == 0) {
    return refuse_nonsense("an end before the last answer");
  }
  while (pgNotify* const note = PQnotifies(handle_)) PQfreemem(note);
}

void connection::end() {
  if (!std::exchange(finished_, true)) ended_.set();
}

// What the server has done with the statement cannot be known any more.
void connection::lose() {
  answer_.unknown = doubt::connection_lost;
  drop();
}

void connection::refuse_nonsense(std::string what) {
  nonsense_ = std::move(what);
  lose();
}

void connection::check_allowance() {
  if (handle_ == nullptr) return;
  const std::uint64_t allowed = allowance_bytes + statements_ * allowance_per_statement;
  if (bytes_through(PQsocket(handle_)).in <= allowed) return;
  refuse_nonsense(fmt::format("more than {} bytes", allowed));
}

// Between two statements a server sends nothing unless it closes the connection.
bool connection::broken() {
  if (handle_ == nullptr) return true;
  if (stirred_) stirred_ = has_more();
  return stirred_;
}

// The five bytes of the goodbye go to a socket with nothing else to send, so they never wait.
void connection::quit() {
  if (handle_ == nullptr) return;
  if (!finished_) return drop();
  sent_ += on_wire();
  watch_.reset();
  PQfinish(std::exchange(handle_, nullptr));
}

// The socket can no longer send or receive, so that nothing waits.
void connection::drop() {
  end();
  if (handle_ == nullptr) return;
  sent_ += on_wire();
  watch_.reset();
  const int fd = PQsocket(handle_);
  if (fd >= 0) shutdown(fd, SHUT_RDWR);
  PQfinish(std::exchange(handle_, nullptr));
}

traffic connection::on_wire() const {
  traffic bytes;
  if (handle_ == nullptr) return bytes;
  const wire_bytes counted = bytes_through(PQsocket(handle_));
  bytes.bytes_in = counted.in;
  bytes.bytes_out = counted.out;
  return bytes;
}

}  // namespace lockmark::postgres
