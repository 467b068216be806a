#include "harness/async/stream.hpp"

#include <asio/buffer.hpp>
#include <asio/ip/basic_resolver.hpp>
#include <asio/redirect_error.hpp>
#include <memory>
#include <utility>

#include "harness/async/signal.hpp"

namespace lockmark {

using asio::ip::tcp;

namespace {

// Asio reports errno in a category of its own, which std::errc does not know.
std::error_code plain(std::error_code error) {
  if (error.category() != asio::error::get_system_category()) return error;
  return {error.value(), std::system_category()};
}

}  // namespace

void stream::alarm::start(time_point deadline) {
  rang_ = false;
  if (deadline != time_point::max()) stream_.loop_.add_timer(*this, deadline);
}

void stream::alarm::fire() {
  rang_ = true;
  std::error_code ignored;
  stream_.socket_.cancel(ignored);
}

std::error_code stream::alarm::explain(std::error_code error) const {
  return error && rang_ ? std::make_error_code(std::errc::timed_out) : plain(error);
}

// A lookup cannot be interrupted; it is left to end by itself, and keeps this alive until then.
struct stream::resolving {
  explicit resolving(loop& l) : done(l), resolver(l.context()) {}
  signal done;
  asio::ip::basic_resolver<tcp, executor> resolver;
  std::error_code error;
  std::vector<tcp::endpoint> found;
};

task<std::error_code> stream::resolve(std::string host, std::uint16_t port, time_point deadline,
                                      std::vector<tcp::endpoint>& found) {
  const auto lookup = std::make_shared<resolving>(loop_);
  lookup->resolver.async_resolve(
      host, std::to_string(port),
      [lookup](const std::error_code& error, const tcp::resolver::results_type& all) {
        lookup->error = error;
        for (const auto& one : all) lookup->found.push_back(one.endpoint());
        lookup->done.set();
      });
  const bool in_time = co_await lookup->done.wait_until(deadline);
  if (!in_time) co_return std::make_error_code(std::errc::timed_out);
  found = lookup->found;
  co_return lookup->error;
}

task<std::error_code> stream::connect_to(tcp::endpoint where, time_point deadline) {
  close();
  std::error_code error;
  writing_.start(deadline);
  co_await socket_.async_connect(where, asio::redirect_error(use_task, error));
  writing_.stop();
  if (error) co_return writing_.explain(error);
  socket_.set_option(tcp::no_delay{true}, error);
  if (!error) socket_.non_blocking(true, error);
  co_return plain(error);
}

task<std::error_code> stream::connect(std::string host, std::uint16_t port, time_point deadline) {
  std::vector<tcp::endpoint> candidates;
  std::error_code error;
  const auto address = asio::ip::make_address(host, error);
  if (!error) {
    candidates.emplace_back(address, port);
  } else {
    error = co_await resolve(std::move(host), port, deadline, candidates);
    if (error) co_return error;
  }
  error = std::make_error_code(std::errc::address_not_available);
  for (const auto& candidate : candidates) {
    error = co_await connect_to(candidate, deadline);
    if (!error || error == std::errc::timed_out) break;
  }
  if (error) close();
  co_return error;
}

std::size_t stream::write_now(std::string_view bytes, std::error_code& error) {
  std::size_t written = 0;
  while (written < bytes.size() && !error) {
    written += socket_.write_some(asio::buffer(bytes.substr(written)), error);
  }
  if (error == asio::error::would_block) error.clear();
  error = plain(error);
  return written;
}

task<std::error_code> stream::write_all(std::string_view bytes, time_point deadline) {
  std::error_code error;
  bytes.remove_prefix(write_now(bytes, error));
  if (bytes.empty() || error) co_return error;
  writing_.start(deadline);
  // The deadline may come while a part that was written at once waits to be told of: it then finds
  // nothing to cancel.
  while (!bytes.empty() && !error && !writing_.rang()) {
    const std::size_t written = co_await socket_.async_write_some(
        asio::buffer(bytes), asio::redirect_error(use_task, error));
    bytes.remove_prefix(written);
  }
  writing_.stop();
  if (!bytes.empty() && !error) co_return std::make_error_code(std::errc::timed_out);
  co_return writing_.explain(error);
}

// Asio 1.22 tries to read before it waits; for a client that has just sent a request that is one
// empty recv(2) of 0.2 us per reply. Waiting first costs an epoll_ctl(2) each, which is more.
task<received> stream::read_some(std::span<char> room, time_point deadline) {
  received got;
  reading_.start(deadline);
  got.bytes = co_await socket_.async_read_some(asio::buffer(room.data(), room.size()),
                                               asio::redirect_error(use_task, got.error));
  reading_.stop();
  got.error = reading_.explain(got.error);
  co_return got;
}

void stream::close() {
  std::error_code ignored;
  socket_.close(ignored);
}

}  // namespace lockmark
