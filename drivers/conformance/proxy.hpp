// A TCP proxy between a driver and its real server, which can be told to misbehave.
//
// It forwards bytes and knows no protocol. It runs on a thread of its own, so that it answers also
// while the tested loop is busy, and it listens on 127.0.0.1 only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace lockmark::conformance {

enum class proxy_mode {
  pass,          // as if it were not there
  drop_replies,  // requests pass; the first reply is swallowed, and then all is cut
  silent,        // accepts, swallows what either side sends, answers nothing
  cut,           // no connections, and new ones are refused
};

class proxy {
 public:
  // Listens on a free port. Throws std::runtime_error if `host` is unknown.
  proxy(const std::string& host, std::uint16_t port);
  ~proxy();
  proxy(const proxy&) = delete;
  proxy& operator=(const proxy&) = delete;

  // In force when this returns. Leaving `silent` breaks the connections that lost bytes.
  void set(proxy_mode m);
  proxy_mode mode() const;

  std::string address() const;  // "127.0.0.1:4242"

 private:
  class impl;
  std::unique_ptr<impl> impl_;
};

// The parts of scheme://[user:password@]host:port[/...] that a proxy replaces.
struct url_parts {
  std::string scheme;    // with "://"
  std::string userinfo;  // with "@", or empty
  std::string host;
  std::uint16_t port = 0;
  std::string rest;

  std::string to_string(const std::string& address) const {
    return scheme + userinfo + address + rest;
  }
};

// Throws std::runtime_error for anything but one host with a port.
url_parts split_url(const std::string& url);

}  // namespace lockmark::conformance
