// Hosts for tests: each with a network of its own, in which there is nothing but its links to this
// machine, and with clocks of its own. All of one kernel: network and time namespaces.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "harness/time/clock.hpp"
#include "harness/unique_fd.hpp"

namespace lockmark::cli {

class test_host {
 public:
  // Its monotonic clock is so far ahead of this machine's. Throws std::runtime_error if there are
  // no namespaces to be had.
  explicit test_host(std::chrono::seconds ahead);
  ~test_host();

  // Its own 127.0.0.1:port leads to this machine's, with so much delay each way.
  void link(std::uint16_t port, duration delay = {});
  // Nothing comes through its links any more, and nobody is told.
  void vanish() { vanished_ = true; }
  void come_back() { vanished_ = false; }

  // The command line that runs this program there.
  std::vector<std::string> run_there(std::vector<std::string> argv) const;

 private:
  class way;
  const std::chrono::seconds ahead_;
  unique_fd network_;
  std::atomic<bool> vanished_{false};
  std::list<std::unique_ptr<way>> ways_;
};

// The body of a test program's main: makes this user root of a namespace of its own where it is
// not root, and runs the tests.
int run_tests_on_hosts(int argc, char** argv);

}  // namespace lockmark::cli
