// TLS over a stream: the same calls with the same deadlines, for bytes that nobody else may read.
//
// OpenSSL works on buffers in memory and never sees the socket, so that waiting, deadlines and
// endings are the stream's own. A plain stream pays nothing for this being here.
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
  std::string ca;    // file in PEM; empty: the system's authorities
  std::string cert;  // of the client, with its key; empty: none
  std::string key;
  bool verify = true;       // the server's certificate and name
  std::string server_name;  // expected of the certificate; empty: the host that is connected to
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

// What OpenSSL found wrong: "certificate verify failed: self-signed certificate",
// "TLS failed: tlsv13 alert certificate required".
const std::error_category& tls_category();

// As `stream`; see there. What a server says against the client's certificate may arrive only with
// the first read.
class tls_stream {
 public:
  tls_stream(loop& l, std::shared_ptr<const tls_context> context);
  ~tls_stream();

  // Connects and shakes hands.
  task<std::error_code> connect(std::string host, std::uint16_t port, time_point deadline);

  // What is not written must be given to write_all next.
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
  std::string unsent_;      // taken from out_, and not yet taken by the kernel
  bool encrypted_ = false;  // what write_now() did not send stands in unsent_
  std::array<char, 4096> room_;
};

}  // namespace lockmark
