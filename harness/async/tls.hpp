// TLS over a stream: the same calls with the same deadlines, encrypted.
//
// OpenSSL works on buffers in memory and never sees the socket, so waiting, deadlines and errors
// are the stream's own. Plain streams pay nothing for it.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include "harness/async/stream.hpp"

struct bio_st;
struct ssl_ctx_st;
struct ssl_st;

namespace lockmark {

struct tls_settings {
  std::string ca;    // PEM file; empty: the system's authorities
  std::string cert;  // of the client, with its key; empty: none
  std::string key;
  bool verify = true;       // the server's certificate and name
  std::string server_name;  // expected in the certificate; empty: the host of connect()
  // What is to be spoken over TLS, by its name in ALPN (RFC 7301): "h2"; empty: nothing is said.
  std::string protocol{};
};

// The files of tls_settings, read once for all connections. Immutable; shared by threads.
class tls_context {
 public:
  // Throws std::runtime_error: one sentence that names the file and the reason.
  explicit tls_context(tls_settings settings);

  const tls_settings& settings() const { return settings_; }
  ssl_ctx_st* get() const { return context_.get(); }

 private:
  struct freed {
    void operator()(ssl_ctx_st* c) const;
  };
  tls_settings settings_;
  std::unique_ptr<ssl_ctx_st, freed> context_;
};

// Errors of OpenSSL: "certificate verify failed: self-signed certificate",
// "TLS failed: tlsv13 alert certificate required".
const std::error_category& tls_category();

// For a connection that ended before the server's first answer: with TLS 1.3 a server can reject
// the client's certificate only after the client has finished the handshake, and its reason may be
// lost.
std::error_code closed_after_handshake();

// Like `stream`. A server's rejection of the client certificate may arrive only with the first
// read.
class tls_stream {
 public:
  tls_stream(loop& l, std::shared_ptr<const tls_context> context);
  ~tls_stream();

  // Connects and performs the handshake.
  task<std::error_code> connect(std::string host, std::uint16_t port, time_point deadline);

  // Bytes not written must be passed to write_all next.
  std::size_t write_now(std::string_view bytes, std::error_code& error);
  task<std::error_code> write_all(std::string_view bytes, time_point deadline);
  task<received> read_some(std::span<char> room, time_point deadline);

  bool is_open() const { return raw_.is_open(); }
  void close() { raw_.close(); }

 private:
  struct freed {
    void operator()(ssl_st* s) const;
  };
  std::error_code start(const std::string& host);
  task<std::error_code> shake_hands(time_point deadline);
  task<std::error_code> receive(time_point deadline);
  std::error_code encrypt(std::string_view bytes);
  std::error_code send_now();
  void take_encrypted();
  std::error_code failure(int result) const;

  stream raw_;
  std::shared_ptr<const tls_context> context_;
  std::unique_ptr<ssl_st, freed> ssl_;
  bio_st* in_ = nullptr;    // encrypted, from the socket; ssl_ owns both
  bio_st* out_ = nullptr;   // encrypted, for the socket
  std::string unsent_;      // taken from out_, not yet taken by the kernel
  bool encrypted_ = false;  // unsent_ holds what write_now() did not send
  std::array<char, 4096> room_;
};

}  // namespace lockmark
