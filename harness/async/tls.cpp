#include "harness/async/tls.hpp"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <new>
#include <stdexcept>
#include <utility>

namespace lockmark {
namespace {

// Codes below this are X509 verification errors; above, errors of OpenSSL's queue.
constexpr int first_queued = 1 << 16;
constexpr int closed_early = first_queued - 1;  // our own

class category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "tls"; }
  std::string message(int code) const override {
    if (code == closed_early) {
      return "the server closed the connection after the TLS handshake; it may want a client "
             "certificate (cert and key)";
    }
    if (code < first_queued) {
      return fmt::format("certificate verify failed: {}", X509_verify_cert_error_string(code));
    }
    const char* const reason = ERR_reason_error_string(static_cast<unsigned long>(code));
    return fmt::format("TLS failed: {}", reason == nullptr ? "for an unknown reason" : reason);
  }
};

// Why the last call failed; for a file that cannot be opened, the system's error.
std::string reason() {
  const unsigned long first = ERR_peek_error();
  if (ERR_SYSTEM_ERROR(first)) return std::system_category().message(ERR_GET_REASON(first));
  const char* const text = ERR_reason_error_string(first);
  return text == nullptr ? "unknown reason" : text;
}

void read_authorities(ssl_ctx_st* context, const std::string& file) {
  if (file.empty()) {
    SSL_CTX_set_default_verify_paths(context);
  } else if (SSL_CTX_load_verify_locations(context, file.c_str(), nullptr) != 1) {
    throw std::runtime_error(
        fmt::format("the certificates of {} cannot be read: {}", file, reason()));
  }
}

void read_own_certificate(ssl_ctx_st* context, const tls_settings& s) {
  if (s.cert.empty()) return;
  if (SSL_CTX_use_certificate_chain_file(context, s.cert.c_str()) != 1) {
    throw std::runtime_error(
        fmt::format("the client certificate {} cannot be read: {}", s.cert, reason()));
  }
  if (SSL_CTX_use_PrivateKey_file(context, s.key.c_str(), SSL_FILETYPE_PEM) != 1) {
    throw std::runtime_error(fmt::format("the client key {} cannot be used: {}", s.key, reason()));
  }
}

void offer_protocol(ssl_ctx_st* context, const std::string& name) {
  if (name.empty()) return;
  const std::string list = static_cast<char>(name.size()) + name;
  const auto* const bytes = reinterpret_cast<const unsigned char*>(list.data());
  if (SSL_CTX_set_alpn_protos(context, bytes, static_cast<unsigned>(list.size())) != 0) {
    throw std::bad_alloc();
  }
}

}  // namespace

const std::error_category& tls_category() {
  static const category only;
  return only;
}

std::error_code closed_after_handshake() {
  return {closed_early, tls_category()};
}

void tls_context::freed::operator()(ssl_ctx_st* c) const {
  SSL_CTX_free(c);
}

tls_context::tls_context(tls_settings settings)
    : settings_(std::move(settings)), context_(SSL_CTX_new(TLS_client_method())) {
  if (!context_) throw std::bad_alloc();
  ERR_clear_error();
  SSL_CTX_set_min_proto_version(context_.get(), TLS1_2_VERSION);
  // Thousands of connections, mostly idle.
  SSL_CTX_set_mode(context_.get(), SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_verify(context_.get(), settings_.verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
  if (settings_.verify) read_authorities(context_.get(), settings_.ca);
  offer_protocol(context_.get(), settings_.protocol);
  read_own_certificate(context_.get(), settings_);
}

void tls_stream::freed::operator()(ssl_st* s) const {
  SSL_free(s);
}

tls_stream::tls_stream(loop& l, std::shared_ptr<const tls_context> context)
    : raw_(l), context_(std::move(context)) {}

tls_stream::~tls_stream() = default;

std::error_code tls_stream::start(const std::string& host) {
  ERR_clear_error();
  ssl_.reset(SSL_new(context_->get()));
  in_ = BIO_new(BIO_s_mem());
  out_ = BIO_new(BIO_s_mem());
  if (!ssl_ || in_ == nullptr || out_ == nullptr) throw std::bad_alloc();
  SSL_set_bio(ssl_.get(), in_, out_);
  SSL_set_connect_state(ssl_.get());
  unsent_.clear();
  encrypted_ = false;
  const std::string& given = context_->settings().server_name;
  const std::string& name = given.empty() ? host : given;
  // A certificate lists an IP address as such, and SNI must not carry one.
  const bool is_address =
      X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl_.get()), name.c_str()) == 1;
  ERR_clear_error();
  if (is_address) return {};
  const bool named = SSL_set1_host(ssl_.get(), name.c_str()) == 1 &&
                     SSL_set_tlsext_host_name(ssl_.get(), name.c_str()) == 1;
  return named ? std::error_code{} : failure(-1);
}

// The error of the call that returned `result`.
std::error_code tls_stream::failure(int result) const {
  if (SSL_get_error(ssl_.get(), result) == SSL_ERROR_ZERO_RETURN) return asio::error::eof;
  const long against = SSL_get_verify_result(ssl_.get());
  if (context_->settings().verify && against != X509_V_OK) {
    return {static_cast<int>(against), tls_category()};
  }
  const auto queued = static_cast<int>(ERR_peek_last_error());
  if (queued < first_queued) return std::make_error_code(std::errc::protocol_error);
  return {queued, tls_category()};
}

task<std::error_code> tls_stream::connect(std::string host, std::uint16_t port,
                                          time_point deadline) {
  std::error_code error = co_await raw_.connect(host, port, deadline);
  if (!error) error = start(host);
  if (!error) error = co_await shake_hands(deadline);
  if (error) close();
  co_return error;
}

task<std::error_code> tls_stream::shake_hands(time_point deadline) {
  while (true) {
    ERR_clear_error();
    const int result = SSL_do_handshake(ssl_.get());
    const bool wants_more = SSL_get_error(ssl_.get(), result) == SSL_ERROR_WANT_READ;
    const std::error_code wrong = result == 1 || wants_more ? std::error_code{} : failure(result);
    take_encrypted();  // including the alert that tells the server why
    std::error_code error = co_await raw_.write_all(unsent_, deadline);
    unsent_.clear();
    if (wrong) co_return wrong;
    if (error || result == 1) co_return error;
    error = co_await receive(deadline);
    if (error) co_return error;
  }
}

// Reads more encrypted bytes from the socket.
task<std::error_code> tls_stream::receive(time_point deadline) {
  const received got = co_await raw_.read_some(room_, deadline);
  if (got.bytes > 0) BIO_write(in_, room_.data(), static_cast<int>(got.bytes));
  co_return got.error;
}

void tls_stream::take_encrypted() {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(out_, &bytes);
  if (size > 0) unsent_.append(bytes, static_cast<std::size_t>(size));
  (void)BIO_reset(out_);
}

std::error_code tls_stream::encrypt(std::string_view bytes) {
  ERR_clear_error();
  while (!bytes.empty()) {
    std::size_t written = 0;
    const int result = SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &written);
    if (result != 1) return failure(result);
    bytes.remove_prefix(written);
  }
  take_encrypted();
  return {};
}

std::error_code tls_stream::send_now() {
  std::error_code error;
  const std::size_t sent = raw_.write_now(unsent_, error);
  unsent_.erase(0, sent);
  return error;
}

std::size_t tls_stream::write_now(std::string_view bytes, std::error_code& error) {
  error = encrypt(bytes);
  if (!error) error = send_now();
  encrypted_ = !unsent_.empty();
  return error || encrypted_ ? 0 : bytes.size();
}

task<std::error_code> tls_stream::write_all(std::string_view bytes, time_point deadline) {
  std::error_code error;
  if (!std::exchange(encrypted_, false)) error = encrypt(bytes);
  if (!error) error = co_await raw_.write_all(unsent_, deadline);
  unsent_.clear();
  co_return error;
}

task<received> tls_stream::read_some(std::span<char> room, time_point deadline) {
  received got;
  while (true) {
    ERR_clear_error();
    const int result = SSL_read_ex(ssl_.get(), room.data(), room.size(), &got.bytes);
    if (result == 1) co_return got;
    if (SSL_get_error(ssl_.get(), result) != SSL_ERROR_WANT_READ) {
      got.error = failure(result);
      co_return got;
    }
    got.error = co_await receive(deadline);
    if (got.error) co_return got;
  }
}

}  // namespace lockmark
