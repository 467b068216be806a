#include "drivers/redis/link.hpp"

#include <fmt/format.h>

#include <utility>

#include "drivers/redis/replies.hpp"

namespace lockmark::redis {

link::link(loop& l, const target& where, traffic& count, server what)
    : loop_(l),
      stream_(l),
      where_(where),
      count_(count),
      at_(where.reached_at(where.hosts.front())),
      what_(what) {
  if (where.secure) secure_ = std::make_unique<tls_stream>(l, where.secure);
}

void link::close() {
  parser_.reset();
  owed_ = 0;
  troubled_ = true;
  if (secure_) return secure_->close();
  stream_.close();
}

task<std::error_code> link::open(time_point deadline) {
  close();
  overdue_ = false;
  std::error_code error = co_await connect(deadline);
  if (error) co_return error;
  if (std::exchange(was_open_, true)) ++count_.reconnects;
  error = co_await log_in(deadline);
  troubled_ = static_cast<bool>(error);
  if (!error) co_return error;
  close();
  const bool unexplained = error == asio::error::eof || error == std::errc::connection_reset ||
                           error == std::errc::broken_pipe;
  if (secure_ && unexplained && where_.tls.cert.empty()) co_return closed_after_handshake();
  co_return error;
}

std::size_t link::append_login(std::string& out) const {
  const bool is_sentinel = what_ == server::sentinel;
  const std::string& user = is_sentinel ? where_.sentinel_user : where_.user;
  const std::string& password = is_sentinel ? where_.sentinel_password : where_.password;
  std::size_t commands = 1;
  if (!password.empty()) {
    ++commands;
    if (user.empty()) {
      append_command(out, "AUTH", password);
    } else {
      append_command(out, "AUTH", user, password);
    }
  }
  if (where_.db != 0 && !is_sentinel) {
    ++commands;
    append_command(out, "SELECT", where_.db);
  }
  if (is_sentinel) {
    append_command(out, "PING");
  } else {
    append_command(out, "CLIENT", "SETNAME", "lockmark");
  }
  return commands;
}

// Always one round trip. CLIENT SETNAME is sent even if there is nothing else to send: its answer
// tells a working connection from one that the server is about to refuse.
task<std::error_code> link::log_in(time_point deadline) {
  std::string out;
  std::size_t commands = append_login(out);
  std::error_code error = co_await write(out, commands, deadline);
  ++count_.round_trips;
  while (!error && commands-- > 0) {
    reply r;
    error = co_await read(r, deadline);
    if (error || !r.is(reply::kind::error)) continue;
    const bool only_the_name = commands == 0 && r.is_error("NOPERM");
    if (only_the_name) continue;
    close();
    throw no_server(fmt::format("{} refused the login: {}", where_.name(), excerpt(r.text)));
  }
  co_return error;
}

std::size_t link::begin_write(std::string_view bytes, std::size_t commands,
                              std::error_code& error) {
  const std::size_t written =
      secure_ ? secure_->write_now(bytes, error) : stream_.write_now(bytes, error);
  if (error) {
    close();
  } else {
    count_.bytes_out += bytes.size();
    count_.commands += commands;
  }
  return written;
}

task<std::error_code> link::finish_write(std::string_view rest, time_point deadline) {
  const std::error_code error = co_await write_all(rest, deadline);
  if (error) close();
  co_return error;
}

std::error_code link::write_now(std::string_view bytes, std::size_t commands) {
  std::error_code error;
  const std::size_t written = begin_write(bytes, commands, error);
  if (error || written == bytes.size()) return error;
  close();
  return std::make_error_code(std::errc::no_buffer_space);
}

task<std::error_code> link::write(std::string_view bytes, std::size_t commands,
                                  time_point deadline) {
  std::error_code error;
  const std::size_t written = begin_write(bytes, commands, error);
  if (!error && written < bytes.size()) {
    error = co_await finish_write(bytes.substr(written), deadline);
  }
  co_return error;
}

bool link::parse(reply& into, std::error_code& error) {
  using state = reply_parser::state;
  const state parsed = parser_.next(into);
  if (parsed == state::malformed) error = std::make_error_code(std::errc::protocol_error);
  if (parsed == state::excessive) error = std::make_error_code(std::errc::message_size);
  if (parsed == state::incomplete && overdue_) error = std::make_error_code(std::errc::timed_out);
  overdue_ = false;
  if (error) close();
  return parsed == state::whole;
}

// A stream that always has bytes never reaches its deadline: a server could send for ever.
void link::feed(const received& got, time_point deadline, std::error_code& error) {
  count_.bytes_in += got.bytes;
  if (got.bytes > 0) parser_.feed({room_.data(), got.bytes});
  overdue_ = loop_.now() >= deadline;
  error = got.error;
  if (error) close();
}

task<std::error_code> link::read(reply& into, time_point deadline) {
  std::error_code error;
  while (!parse(into, error) && !error) {
    const received got = co_await receive(deadline);
    feed(got, deadline, error);
  }
  co_return error;
}

task<std::error_code> link::ask(std::string_view bytes, reply& into, time_point deadline) {
  std::error_code error = co_await write(bytes, 1, deadline);
  ++count_.round_trips;
  if (!error) error = co_await read(into, deadline);
  co_return error;
}

std::string predicate(std::error_code error) {
  if (error == std::errc::timed_out) return "did not answer in time";
  if (error == asio::error::eof) return "closed the connection";
  if (error == std::errc::protocol_error) return "does not speak Redis's protocol";
  if (error == std::errc::message_size) {
    return fmt::format("answers with more than a lock can need, which is {} MiB, nested {} deep",
                       reply_limits::size >> 20, reply_limits::depth);
  }
  return fmt::format("cannot be reached: {}", error.message());
}

std::string sentence(const target& where, std::error_code error) {
  return fmt::format("{} {}", where.name(), predicate(error));
}

bool is_no_redis(std::error_code error) {
  return error == std::errc::protocol_error || error == std::errc::message_size;
}

}  // namespace lockmark::redis
