// One TCP connection, plain or by TLS, for one use: see harness/async/stream.hpp, whose calls these
// are.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "harness/async/stream.hpp"
#include "harness/async/tls.hpp"

namespace lockmark::etcd {

class transport {
 public:
  // `secure`: null for a plain connection.
  transport(loop& l, std::shared_ptr<const tls_context> secure) : plain_(l) {
    if (secure) secure_ = std::make_unique<tls_stream>(l, std::move(secure));
  }

  task<std::error_code> connect(std::string host, std::uint16_t port, time_point deadline) {
    return secure_ ? secure_->connect(std::move(host), port, deadline)
                   : plain_.connect(std::move(host), port, deadline);
  }
  std::size_t write_now(std::string_view bytes, std::error_code& error) {
    return secure_ ? secure_->write_now(bytes, error) : plain_.write_now(bytes, error);
  }
  task<std::error_code> write_all(std::string_view bytes, time_point deadline) {
    return secure_ ? secure_->write_all(bytes, deadline) : plain_.write_all(bytes, deadline);
  }
  task<received> read_some(std::span<char> room, time_point deadline) {
    return secure_ ? secure_->read_some(room, deadline) : plain_.read_some(room, deadline);
  }
  void close() {
    if (secure_) return secure_->close();
    plain_.close();
  }

 private:
  stream plain_;
  std::unique_ptr<tls_stream> secure_;  // instead of plain_
};

}  // namespace lockmark::etcd
