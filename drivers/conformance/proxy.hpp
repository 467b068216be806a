// TCP proxies between a driver and its real servers, which misbehave on request.
//
// They forward bytes and know no protocol. All proxies of a group run on one thread of their own,
// so that they answer even while the tested loop is busy, and they listen on 127.0.0.1 only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "harness/config/target.hpp"

namespace lockmark::conformance {

enum class proxy_mode {
  pass,          // transparent
  drop_replies,  // requests pass; the first reply is dropped, and then all is cut
  silent,        // accepts, drops the bytes of either side, answers nothing
  cut,           // no connections, and new ones are refused
  hold,          // accepts, keeps the bytes of either side, and forwards them when this ends
};

// One proxy for each of several servers.
class proxies {
 public:
  // Each listens on a free port. Throws std::runtime_error if a host is unknown.
  explicit proxies(const std::vector<config::host_port>& servers);
  ~proxies();
  proxies(const proxies&) = delete;
  proxies& operator=(const proxies&) = delete;

  // In force when this returns. Leaving `silent` breaks the connections that lost bytes. With
  // drop_replies, the first reply of any server is dropped, and then all are cut.
  void set(proxy_mode m);
  // For one server, from 0. With drop_replies it drops its own first reply, and is cut alone.
  void set(std::size_t which, proxy_mode m);
  proxy_mode mode(std::size_t which) const;

  config::host_port address(std::size_t which) const;

 private:
  class impl;
  std::unique_ptr<impl> impl_;
};

// A proxy of one server.
class proxy {
 public:
  proxy(const std::string& host, std::uint16_t port)
      : one_(std::vector<config::host_port>{{host, port}}) {}

  void set(proxy_mode m) { one_.set(m); }
  proxy_mode mode() const { return one_.mode(0); }

  config::host_port at() const { return one_.address(0); }
  std::string address() const { return to_string(at()); }  // "127.0.0.1:4242"

 private:
  proxies one_;
};

}  // namespace lockmark::conformance
