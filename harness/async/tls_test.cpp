#include "harness/async/tls.hpp"

#include <gmock/gmock.h>

#include <asio/basic_socket_acceptor.hpp>
#include <csignal>

#include "harness/async/scope.hpp"
#include "harness/async/tls_test_peer.hpp"

namespace lockmark {
namespace {

using namespace std::chrono_literals;

struct tls_test : testing::Test {
  static void SetUpTestSuite() {
    std::signal(SIGPIPE, SIG_IGN);  // for the echo server, which uses plain writes
    certificates = std::make_unique<test_certificates>();
  }
  static void TearDownTestSuite() { certificates.reset(); }

  static tls_settings trusting(const std::string& ca) {
    return {.ca = certificates->file(ca), .cert = {}, .key = {}, .server_name = {}};
  }
  static tls_settings with_certificate() {
    tls_settings s = trusting("ca.pem");
    s.cert = certificates->file("client.pem");
    s.key = certificates->file("client.key");
    return s;
  }

  // The result of connecting, sending `text` and reading as many bytes back.
  std::error_code echo(const tls_settings& settings, std::string& text, bool wants_certificate,
                       const std::string& host = "127.0.0.1");

  static std::unique_ptr<test_certificates> certificates;
  real_clock clock;
  loop l{clock};
};
std::unique_ptr<test_certificates> tls_test::certificates;

task<void> read_as_much(tls_stream& s, std::string& text, std::error_code& e, time_point soon) {
  std::array<char, 1000> room;
  for (std::size_t got = 0; got < text.size();) {
    const received some = co_await s.read_some(room, soon);
    e = some.error;
    if (e) co_return;
    std::copy_n(room.begin(), some.bytes, text.begin() + static_cast<std::ptrdiff_t>(got));
    got += some.bytes;
  }
}

task<void> talk(loop& l, tls_stream& s, std::string host, std::uint16_t port, std::string& text,
                std::error_code& e) {
  const time_point soon = l.now() + 60s;
  e = co_await s.connect(host, port, soon);
  if (e) co_return;
  const std::string sent = text;
  text.assign(sent.size(), ' ');
  scope both{l};
  both.spawn(read_as_much(s, text, e, soon));
  std::error_code unsent;
  const std::size_t written = s.write_now(sent, unsent);
  if (!unsent && written < sent.size()) {
    unsent = co_await s.write_all(std::string_view{sent}.substr(written), soon);
  }
  co_await both.join();
}

std::error_code tls_test::echo(const tls_settings& settings, std::string& text,
                               bool wants_certificate, const std::string& host) {
  const echo_server server{*certificates, wants_certificate};
  tls_stream s{l, std::make_shared<tls_context>(settings)};
  std::error_code e;
  run_to_end(l, talk(l, s, host, server.port(), text, e));
  s.close();
  return e;
}

// Bytes go both ways, whole or in more pieces than the kernel takes at once.
TEST_F(tls_test, talks) {
  std::string text = "ping";
  EXPECT_FALSE(echo(trusting("ca.pem"), text, false));
  EXPECT_EQ(text, "ping");
  const std::string much(8 << 20, 'x');
  text = much;
  const std::error_code e = echo(trusting("ca.pem"), text, false);
  EXPECT_FALSE(e) << e.message();
  EXPECT_TRUE(text == much);
  EXPECT_FALSE(echo(trusting("ca.pem"), text, false, "localhost"));
}

// A server with an untrusted authority or another name is refused, with the reason.
TEST_F(tls_test, says_what_is_wrong_with_a_certificate) {
  std::string text = "ping";
  EXPECT_EQ(echo(trusting("other_ca.pem"), text, false).message(),
            "certificate verify failed: unable to get local issuer certificate");
  tls_settings other_name = trusting("ca.pem");
  other_name.server_name = "example.org";
  EXPECT_EQ(echo(other_name, text, false).message(),
            "certificate verify failed: hostname mismatch");
  other_name.server_name = "127.0.0.2";
  EXPECT_EQ(echo(other_name, text, false).message(),
            "certificate verify failed: IP address mismatch");
}

// The expected name can be set, and verification can be turned off.
TEST_F(tls_test, checks_as_it_is_told) {
  std::string text = "ping";
  tls_settings named = trusting("ca.pem");
  named.server_name = "localhost";
  EXPECT_FALSE(echo(named, text, false));
  tls_settings careless = trusting("other_ca.pem");
  careless.verify = false;
  careless.server_name = "example.org";
  EXPECT_FALSE(echo(careless, text, false));
}

// A client certificate is sent to a server that requires one; without it the server's error is
// reported.
TEST_F(tls_test, shows_a_client_certificate) {
  std::string text = "ping";
  const std::error_code e = echo(with_certificate(), text, true);
  EXPECT_FALSE(e) << e.message();
  EXPECT_EQ(echo(trusting("ca.pem"), text, true).message(),
            "TLS failed: tlsv13 alert certificate required");
}

// What is to be spoken is agreed on in the handshake; a server that speaks something else refuses.
TEST_F(tls_test, agrees_on_a_protocol) {
  std::string text = "ping";
  tls_settings http2 = trusting("ca.pem");
  http2.protocol = "h2";
  const std::error_code e = echo(http2, text, false);
  EXPECT_FALSE(e) << e.message();
  EXPECT_EQ(text, "ping");
  http2.protocol = "h3";
  EXPECT_THAT(echo(http2, text, false).message(), testing::HasSubstr("no application protocol"));
}

// Files are read once, before any connection; a problem with them is one sentence.
TEST_F(tls_test, names_the_file_that_cannot_be_read) {
  const auto complaint = [](const tls_settings& s) -> std::string {
    try {
      tls_context{s};
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_EQ(complaint(trusting("ca.pem")), "none");
  EXPECT_EQ(complaint(trusting("absent")), "the certificates of " + certificates->file("absent") +
                                               " cannot be read: No such file or directory");
  tls_settings swapped = with_certificate();
  swapped.key = certificates->file("server.key");
  EXPECT_EQ(complaint(swapped),
            "the client key " + swapped.key + " cannot be used: key values mismatch");
}

task<void> connect(tls_stream& s, std::uint16_t port, time_point deadline, std::error_code& e) {
  e = co_await s.connect("127.0.0.1", port, deadline);
}

// A peer that accepts and stays silent: the handshake ends at its deadline.
TEST_F(tls_test, keeps_the_deadline_of_the_handshake) {
  asio::basic_socket_acceptor<asio::ip::tcp, executor> silent{
      l.context(), asio::ip::tcp::endpoint{asio::ip::address_v4::loopback(), 0}};
  tls_stream s{l, std::make_shared<tls_context>(trusting("ca.pem"))};
  std::error_code e;
  const time_point soon = clock.now() + 20ms;
  run_to_end(l, connect(s, silent.local_endpoint().port(), soon, e));
  EXPECT_EQ(e, std::errc::timed_out);
  EXPECT_GE(clock.now(), soon);
  EXPECT_FALSE(s.is_open());
}

}  // namespace
}  // namespace lockmark
