// For tests: certificates generated on the fly, and a TLS echo server.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace lockmark {

// A folder with ca.pem, other_ca.pem, server.pem and server.key (for localhost and 127.0.0.1,
// signed by ca), client.pem and client.key (signed by ca). Removed on destruction.
class test_certificates {
 public:
  test_certificates();
  ~test_certificates();
  test_certificates(const test_certificates&) = delete;
  test_certificates& operator=(const test_certificates&) = delete;
  std::string file(const std::string& name) const { return (folder_ / name).string(); }

 private:
  std::filesystem::path folder_;
};

// Serves one connection on a free port of 127.0.0.1, on a thread of its own.
class echo_server {
 public:
  echo_server(const test_certificates& certificates, bool wants_certificate);
  ~echo_server();
  std::uint16_t port() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace lockmark
