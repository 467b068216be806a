#include "drivers/redis/connection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace lockmark::redis {

task<std::error_code> link::open(time_point deadline) {
  parser_.reset();
  std::error_code error = co_await stream_.connect(where_.host, where_.port, deadline);
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

void link::count_written(std::size_t bytes, std::size_t commands) {
  count_.bytes_out += bytes;
  count_.commands += commands;
}

task<std::error_code> link::write(std::string_view bytes, std::size_t commands,
                                  time_point deadline) {
  std::error_code error;
  const std::size_t written = stream_.write_now(bytes, error);
  if (!error && written < bytes.size()) {
    error = co_await stream_.write_all(bytes.substr(written), deadline);
  }
  if (error) {
    close();
  } else {
    count_written(bytes.size(), commands);
  }
  co_return error;
}

std::error_code link::write_now(std::string_view bytes, std::size_t commands) {
  std::error_code error;
  if (stream_.write_now(bytes, error) < bytes.size() && !error) {
    error = std::make_error_code(std::errc::no_buffer_space);
  }
  if (error) {
    close();
  } else {
    count_written(bytes.size(), commands);
  }
  return error;
}

task<std::error_code> link::read(reply& into, time_point deadline) {
  while (true) {
    const auto parsed = parser_.next(into);
    if (parsed == reply_parser::state::whole) co_return std::error_code{};
    std::error_code error = std::make_error_code(std::errc::protocol_error);
    if (parsed == reply_parser::state::incomplete) {
      const received got = co_await stream_.read_some(room_, deadline);
      error = got.error;
      count_.bytes_in += got.bytes;
      parser_.feed({room_.data(), got.bytes});
    }
    if (error) {
      close();
      co_return error;
    }
  }
}

std::string sentence(const target& where, std::error_code error) {
  std::string what = "cannot be reached: " + error.message();
  if (error == std::errc::timed_out) what = "did not answer in time";
  if (error == asio::error::eof) what = "closed the connection";
  if (error == std::errc::protocol_error) what = "does not speak Redis's protocol";
  return where.name() + " " + what;
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

task<outcome<reply>> connection::round_trip(time_point deadline) {
  ++count_.round_trips;
  // What was not written whole is not executed.
  const std::error_code unsent = co_await link_.write(out_, 1, deadline);
  if (unsent) {
    close();
    co_return refusal::unavailable;
  }
  reply r;
  for (++owed_; owed_ > 0; --owed_) {
    const std::error_code error = co_await link_.read(r, deadline);
    if (error) co_return lost(error);
  }
  co_return outcome<reply>{std::move(r)};
}

task<outcome<reply>> connection::exchange(time_point deadline, const script* fallback) {
  if (loop_.now() >= deadline) co_return refusal::deadline;
  if (!link_.is_open()) {
    const std::error_code error = co_await link_.open(deadline);
    if (error) co_return refusal::unavailable;
  }
  outcome<reply> said = co_await round_trip(deadline);
  if (fallback != nullptr && said.done() && said.value().is_error("NOSCRIPT")) {
    out_ = as_eval(out_, *fallback);
    said = co_await round_trip(deadline);
  }
  if (!said.done()) co_return said;
  switch (judge(said.value())) {
    case verdict::answer: break;
    case verdict::not_now: co_return refusal::unavailable;
    case verdict::unexpected:
      throw no_server(fmt::format("{} answered {} with an error: {}", link_.where().name(),
                                  name_of_command(out_), said.value().text));
  }
  co_return said;
}

task<reply> connection::demand_sent(time_point deadline) {
  if (!link_.is_open()) co_await open(deadline);
  const outcome<reply> said = co_await round_trip(deadline);
  if (said.done()) co_return said.value();
  const bool late = said.in_doubt() && said.why_in_doubt() == doubt::deadline;
  throw no_server(sentence(link_.where(), late ? std::make_error_code(std::errc::timed_out)
                                               : std::error_code{asio::error::eof}));
}

void connection::post_sent() {
  if (!link_.is_open()) return;
  if (link_.write_now(out_, 1)) return close();
  ++owed_;
}

task<void> connection::settle(time_point deadline) {
  for (reply r; owed_ > 0; --owed_) {
    const std::error_code error = co_await link_.read(r, deadline);
    if (error) break;
  }
}

void connection::close() {
  link_.close();
  owed_ = 0;
}

}  // namespace lockmark::redis
