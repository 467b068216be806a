// The driver of every lock whose client runs in a process of its own: one child per instance, and
// one each for prepare and wipe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/driver.hpp"

namespace lockmark::exec {

struct recipe {
  std::string lock;                  // "exec/redisson": for errors, and for the client
  std::vector<std::string> argv;     // argv[0] is looked up in PATH
  std::vector<std::string> schemes;  // of supported targets: "redis", "redis+sentinel"
  features has;                      // features that the client must not lack
  features may_have{};               // features that it has only if it announces them
  std::string program{};  // for errors, as the user gave it; empty: the lock and its target
  // Time for each child to answer hello, whatever the call's deadline: that one is for the server,
  // and on a busy machine a Java machine alone may take longer to start than that.
  duration hello_within = std::chrono::seconds{25};
};

// The client gets setup.target. Throws usage_error for a target that it does not understand.
std::unique_ptr<driver> make_driver(const driver_setup& setup, recipe what);

}  // namespace lockmark::exec
