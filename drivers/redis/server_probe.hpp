// For tests: looks at a server by other means than the driver (redis-cli, and KEYS, which is only
// fit for a server of one's own).
#pragma once

#include <string>
#include <vector>

#include "harness/driver.hpp"

namespace lockmark::redis {

// The lines that `redis-cli -u target arguments` prints. Throws std::runtime_error when it fails.
std::vector<std::string> redis_cli(const std::string& target, const std::string& arguments);

// Each server of the target that takes writes, as a "redis://" target of its own.
std::vector<std::string> masters(const std::string& target);

// What is left on the servers of a run: locks, latches, everything with the run's name in it.
std::vector<std::string> keys_of_run(const std::string& target, const names& run);

}  // namespace lockmark::redis
