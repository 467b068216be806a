// The harness's side of the proxy process: starts it, commands it and ends it.
//
//   proxy_process proxies({"/proc/self/exe", "proxy"});
//   const proxied to_redis = proxies.open({"127.0.0.1", 6379});   // before the loop runs
//   co_await proxies.set(l, {to_redis.link}, link_mode::cut);
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/async/loop.hpp"
#include "harness/config/target.hpp"
#include "harness/faults/proxy/tcp_proxy.hpp"

namespace lockmark::faults {

struct proxied {
  std::size_t link = 0;
  std::uint16_t port = 0;  // on 127.0.0.1, where clients connect instead of the server
};

// The process has died, does not reply, or cannot do what it was told: a sentence.
struct proxy_error : std::runtime_error {
  using runtime_error::runtime_error;
};

class proxy_process {
 public:
  using link_list = std::vector<std::size_t>;

  // Starts argv[0] (a path) with these arguments; it must call serve_proxies(). Throws proxy_error.
  explicit proxy_process(const std::vector<std::string>& argv);
  // Ends the process and waits for it.
  ~proxy_process();
  proxy_process(const proxy_process&) = delete;
  proxy_process& operator=(const proxy_process&) = delete;

  pid_t pid() const { return pid_; }
  // False once it has died.
  bool lives() const;

  // Opens a new link; see tcp_proxy. Blocks. REQUIRES: no task of this object on any loop.
  proxied open(const config::host_port& server, std::uint16_t listen_on = 0,
               const link_latency& latency = {});

  // In force when these return; see tcp_proxy. Throw proxy_error. All must use the same loop.
  task<void> set(loop& l, link_list links, link_mode mode, duration by = {});
  task<void> go(loop& l, link_list links);
  // Waits until `answer` (empty: any) to the n-th such request is held back on one of the links,
  // and lets the other links go. Returns the link, or -1 at the deadline or after stop_waiting().
  // Must be followed by go() on that link.
  task<std::ptrdiff_t> await(loop& l, link_list links, std::string word, std::uint64_t nth,
                             time_point deadline, std::string answer = "");
  void stop_waiting() noexcept;

 private:
  struct state;

  pid_t pid_ = -1;
  std::unique_ptr<state> state_;
};

}  // namespace lockmark::faults
