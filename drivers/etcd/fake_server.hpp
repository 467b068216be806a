// For tests: a fake etcd behind a real socket, on a thread of its own, whose answers the test
// chooses. It keeps no data.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include "drivers/etcd/fake_peer.hpp"
#include "harness/unique_fd.hpp"

namespace lockmark::etcd {

class fake_server {
 public:
  struct manner {
    fake_peer::behaviour answer;
    std::string greeting{};  // sent raw, in place of HTTP/2
    bool endless = false;    // the greeting again and again
    int drip_ms = 0;         // > 0: sends one byte at a time, with this pause
  };

  // Listens on a free port of 127.0.0.1, and serves one client after the other.
  explicit fake_server(manner m);
  ~fake_server();
  fake_server(const fake_server&) = delete;
  fake_server& operator=(const fake_server&) = delete;

  std::string url() const { return "etcd://127.0.0.1:" + std::to_string(port_); }
  std::uint16_t port() const { return port_; }
  int clients() const { return clients_; }

 private:
  bool ready(int fd, short events, int limit_ms = -1) const;
  bool send(int fd, std::string_view bytes) const;
  void serve(int fd) const;
  void greet(int fd) const;

  const manner manner_;
  unique_fd stop_;
  unique_fd listener_;
  std::uint16_t port_ = 0;
  std::atomic<int> clients_ = 0;
  std::thread thread_;
};

// What an honest etcd of one member answers to the calls of a lock that nobody else wants.
void answer_honestly(fake_peer& p, const fake_peer::call& c);

}  // namespace lockmark::etcd
