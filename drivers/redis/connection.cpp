#include "drivers/redis/connection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace lockmark::redis {

task<std::error_code> link::open(time_point deadline) {
  parser_.reset();
  const config::host_port& at = where_.reached_at(where_.hosts.front());
  std::error_code error = co_await stream_.connect(at.host, at.port, deadline);
  if (error) co_return error;
  if (std::exchange(was_open_, true)) ++count_.reconnects;
  error = co_await log_in(deadline);
  if (error) close();
  co_return error;
}

// One round trip, whatever there is to say. CLIENT SETNAME comes also when there is nothing else to
// say: its answer tells a connection that works from one that the server is about to refuse.
task<std::error_code> link::log_in(time_point deadline) {
  std::string out;
  std::size_t commands = 0;
  if (!where_.password.empty()) {
    ++commands;
    if (where_.user.empty()) {
      append_command(out, "AUTH", where_.password);
    } else {
      append_command(out, "AUTH", where_.user, where_.password);
    }
  }
  if (where_.db != 0) {
    ++commands;
    append_command(out, "SELECT", where_.db);
  }
  ++commands;
  append_command(out, "CLIENT", "SETNAME", "lockmark");
  std::error_code error = co_await write(out, commands, deadline);
  ++count_.round_trips;
  while (!error && commands-- > 0) {
    reply r;
    error = co_await read(r, deadline);
    if (error || !r.is(reply::kind::error)) continue;
    const bool only_the_name = commands == 0 && r.is_error("NOPERM");
    if (only_the_name) continue;
    close();
    throw no_server(fmt::format("{} refused the login: {}", where_.name(), r.text));
  }
  co_return error;
}

std::size_t link::begin_write(std::string_view bytes, std::size_t commands,
                              std::error_code& error) {
  const std::size_t written = stream_.write_now(bytes, error);
  if (error) {
    close();
  } else {
    count_.bytes_out += bytes.size();
    count_.commands += commands;
  }
  return written;
}

task<std::error_code> link::finish_write(std::string_view rest, time_point deadline) {
  const std::error_code error = co_await stream_.write_all(rest, deadline);
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
  const auto parsed = parser_.next(into);
  if (parsed == reply_parser::state::malformed) {
    error = std::make_error_code(std::errc::protocol_error);
    close();
  }
  return parsed == reply_parser::state::whole;
}

void link::feed(const received& got, std::error_code& error) {
  count_.bytes_in += got.bytes;
  if (got.bytes > 0) parser_.feed({room_.data(), got.bytes});
  error = got.error;
  if (error) close();
}

task<std::error_code> link::read(reply& into, time_point deadline) {
  std::error_code error;
  while (!parse(into, error) && !error) {
    const received got = co_await receive(deadline);
    feed(got, error);
  }
  co_return error;
}

std::string sentence(const target& where, std::error_code error) {
  const std::string name = where.name();
  if (error == std::errc::timed_out) return fmt::format("{} did not answer in time", name);
  if (error == asio::error::eof) return fmt::format("{} closed the connection", name);
  if (error == std::errc::protocol_error) {
    return fmt::format("{} does not speak Redis's protocol", name);
  }
  return fmt::format("{} cannot be reached: {}", name, error.message());
}

verdict judge(const reply& r) {
  if (!r.is(reply::kind::error)) return verdict::answer;
  const bool not_now = r.is_error("LOADING") || r.is_error("BUSY") || r.is_error("MASTERDOWN");
  return not_now ? verdict::not_now : verdict::unexpected;
}

std::string_view name_of_command(std::string_view bytes) {
  const auto name = bytes.find("\r\n", bytes.find('$')) + 2;
  return bytes.substr(name, bytes.find("\r\n", name) - name);
}

task<void> connection::open(time_point deadline) {
  const std::error_code error = co_await link_.open(deadline);
  if (error) throw no_server(sentence(link_.where(), error));
}

// Asked, and it broke: only the reason is known.
outcome<reply> connection::lost(std::error_code error) {
  close();
  if (error == std::errc::timed_out) return doubt::deadline;
  return doubt::connection_lost;
}

// The path of every command of a run: one coroutine, and one more while it waits for bytes.
task<outcome<reply>> connection::exchange(time_point deadline, const script* fallback,
                                          errors treatment) {
  if (loop_.now() >= deadline) co_return refusal::deadline;
  std::error_code error;
  if (!link_.is_open()) error = co_await link_.open(deadline);
  if (error) co_return refusal::unavailable;
  while (true) {
    const std::size_t written = link_.begin_write(out_, 1, error);
    if (!error && written < out_.size()) {
      error = co_await link_.finish_write(std::string_view{out_}.substr(written), deadline);
    }
    // What was not written whole is not executed.
    if (error) {
      close();
      co_return refusal::unavailable;
    }
    ++count_.round_trips;
    reply r;
    for (++owed_; owed_ > 0; --owed_) {
      while (!link_.parse(r, error) && !error) {
        const received got = co_await link_.receive(deadline);
        link_.feed(got, error);
      }
      if (error) co_return lost(error);
    }
    if (!r.is(reply::kind::error) || treatment == errors::are_answers) co_return std::move(r);
    if (fallback == nullptr || !r.is_error("NOSCRIPT")) co_return judged(r);
    out_ = as_eval(out_, *fallback);
  }
}

outcome<reply> connection::judged(const reply& r) {
  if (judge(r) == verdict::not_now) return refusal::unavailable;
  throw no_server(fmt::format("{} answered {} with an error: {}", link_.where().name(),
                              name_of_command(out_), r.text));
}

task<reply> connection::demand_sent(time_point deadline) {
  if (!link_.is_open()) co_await open(deadline);
  const outcome<reply> said = co_await exchange(deadline, nullptr, errors::are_answers);
  if (said.done()) co_return said.value();
  const bool broken = said.in_doubt() && said.why_in_doubt() == doubt::connection_lost;
  throw no_server(sentence(link_.where(), broken ? std::error_code{asio::error::eof}
                                                 : std::make_error_code(std::errc::timed_out)));
}

void connection::post_sent() {
  if (!link_.is_open()) return;
  if (link_.write_now(out_, 1)) return close();
  ++owed_;
}

task<bool> connection::settle(time_point deadline) {
  for (reply r; owed_ > 0; --owed_) {
    const std::error_code error = co_await link_.read(r, deadline);
    if (error) {
      close();
      co_return false;
    }
  }
  co_return true;
}

void connection::close() {
  link_.close();
  owed_ = 0;
}

}  // namespace lockmark::redis
