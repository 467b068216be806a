#include "harness/async/stream.hpp"

#include <gtest/gtest.h>

#include <asio/basic_socket_acceptor.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>
#include <thread>

#include "harness/async/scope.hpp"

namespace lockmark {
namespace {

using namespace std::chrono_literals;
using asio::ip::tcp;

// The other end: a listener on a free port; the kernel's backlog accepts connections.
struct stream_test : testing::Test {
  real_clock clock;
  loop l{clock};
  asio::basic_socket_acceptor<tcp, executor> listener{
      l.context(), tcp::endpoint{asio::ip::address_v4::loopback(), 0}};
  std::uint16_t port() { return listener.local_endpoint().port(); }
  stream s{l};
};

task<void> connect(loop& l, stream& s, std::string host, std::uint16_t port, std::error_code& e) {
  e = co_await s.connect(std::move(host), port, l.now() + 30s);
}

task<void> read(stream& s, time_point deadline, std::string& text, std::error_code& e) {
  std::array<char, 100> room;
  const received got = co_await s.read_some(room, deadline);
  text.assign(room.data(), got.bytes);
  e = got.error;
}

task<void> write(stream& s, std::string_view bytes, time_point deadline, std::error_code& e) {
  e = co_await s.write_all(bytes, deadline);
}

task<void> close_at(loop& l, stream& s, time_point when) {
  co_await l.sleep_until(when);
  s.close();
}

// Bytes go both ways, and the peer's close is an error value.
TEST_F(stream_test, talks) {
  std::error_code e;
  run_to_end(l, connect(l, s, "127.0.0.1", port(), e));
  ASSERT_FALSE(e) << e.message();
  auto peer = listener.accept();
  run_to_end(l, write(s, "ping", clock.now() + 30s, e));
  ASSERT_FALSE(e);
  std::string text(4, ' ');
  asio::read(peer, asio::buffer(text));
  EXPECT_EQ(text, "ping");
  asio::write(peer, asio::buffer("pong", 4));
  run_to_end(l, read(s, clock.now() + 30s, text, e));
  EXPECT_EQ(text, "pong");
  peer.close();
  run_to_end(l, read(s, clock.now() + 30s, text, e));
  EXPECT_EQ(e, asio::error::eof);
}

// A name is resolved, and its addresses are tried until one answers.
TEST_F(stream_test, connects_by_name) {
  std::error_code e;
  run_to_end(l, connect(l, s, "localhost", port(), e));
  EXPECT_FALSE(e) << e.message();
}

// No listener; a name that does not exist.
TEST_F(stream_test, says_why_it_cannot_connect) {
  asio::basic_socket_acceptor<tcp, executor> taken{l.context()};  // bound, but not listening
  taken.open(tcp::v4());
  taken.bind({asio::ip::address_v4::loopback(), 0});
  const auto nobody = taken.local_endpoint().port();
  std::error_code e;
  run_to_end(l, connect(l, s, "127.0.0.1", nobody, e));
  EXPECT_EQ(e, std::errc::connection_refused);
  EXPECT_FALSE(s.is_open());
  run_to_end(l, connect(l, s, "no such host", 1, e));
  EXPECT_TRUE(e);
}

// A silent peer: reading and writing end at their deadlines, with timed_out.
TEST_F(stream_test, keeps_deadlines) {
  std::error_code e;
  run_to_end(l, connect(l, s, "127.0.0.1", port(), e));
  std::string text;
  const auto soon = clock.now() + 20ms;
  run_to_end(l, read(s, soon, text, e));
  EXPECT_EQ(e, std::errc::timed_out);
  EXPECT_GE(clock.now(), soon);
  EXPECT_LT(clock.now(), soon + 2s);
  const std::string much(64 << 20, 'x');
  run_to_end(l, write(s, much, clock.now() + 20ms, e));
  EXPECT_EQ(e, std::errc::timed_out);
}

// A write larger than the kernel takes at once arrives whole.
TEST_F(stream_test, writes_what_does_not_fit_at_once) {
  std::error_code e;
  run_to_end(l, connect(l, s, "127.0.0.1", port(), e));
  auto peer = listener.accept();
  const std::string much(16 << 20, 'x');
  std::size_t got = 0;
  std::thread reader{[&] {
    std::string room(much.size(), ' ');
    got = asio::read(peer, asio::buffer(room));
  }};
  run_to_end(l, write(s, much, clock.now() + 30s, e));
  reader.join();
  EXPECT_FALSE(e) << e.message();
  EXPECT_EQ(got, much.size());
}

// Closing ends a read in flight.
TEST_F(stream_test, close_ends_a_read) {
  std::error_code e;
  run_to_end(l, connect(l, s, "127.0.0.1", port(), e));
  std::string text;
  scope both{l};
  both.spawn(read(s, time_point::max(), text, e));
  both.spawn(close_at(l, s, clock.now() + 5ms));
  l.run();
  EXPECT_EQ(e, std::errc::operation_canceled);
}

}  // namespace
}  // namespace lockmark
