// TCP proxies between a driver and its real servers, which misbehave on request.
//
// All proxies of a group run on one thread of their own, so that they answer even while the tested
// loop is busy, and they listen on 127.0.0.1 only. The bytes are carried by faults::tcp_proxy.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "harness/config/target.hpp"
#include "harness/faults/proxy/tcp_proxy.hpp"
#include "harness/unique_fd.hpp"

namespace lockmark::conformance {

enum class proxy_mode {
  pass,          // transparent
  drop_replies,  // requests pass; the first reply is dropped, and then all is cut
  silent,        // accepts, drops the bytes of either side, answers nothing
  cut,           // no connections, and new ones are refused
  hold,          // keeps the bytes of either side, and forwards them when this ends
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
  proxy_mode mode(std::size_t which) const { return doors_[which]->mode; }

  config::host_port address(std::size_t which) const { return doors_[which]->here; }

 private:
  struct door {
    config::host_port here;
    std::atomic<proxy_mode> mode = proxy_mode::pass;
    bool alone = false;  // its mode was set individually
  };

  void serve();
  void wake();
  void do_and_wait(std::function<void()> what);
  void change(std::size_t which, proxy_mode m);
  void reply_came(std::size_t which);

  // All of these but `next_` belong to the thread once it runs.
  std::vector<std::size_t> hits_;  // links at which a reply is held back
  faults::tcp_proxy links_{[this](std::size_t link) {
    hits_.push_back(link);
    wake();
  }};
  std::vector<std::unique_ptr<door>> doors_;  // by link
  unique_fd awake_;
  std::mutex mutex_;
  std::function<void()> next_;  // guarded by mutex_
  bool over_ = false;
  std::thread thread_;
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
