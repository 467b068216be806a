// For tests: inspects a server by other means than the driver (redis-cli, and KEYS, which is only
// fit for a server of one's own).
#pragma once

#include <cstdio>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/config/target.hpp"
#include "harness/driver.hpp"

namespace lockmark::redis {

// The output lines of `redis-cli -u target arguments`. Throws std::runtime_error if it fails.
inline std::vector<std::string> redis_cli(const std::string& target, const std::string& arguments) {
  const std::string command = "redis-cli --no-auth-warning -u '" + target + "' " + arguments;
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot start redis-cli");
  std::string output;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) output += static_cast<char>(c);
  if (pclose(pipe) != 0) throw std::runtime_error("redis-cli failed: " + command);
  std::vector<std::string> lines;
  std::istringstream text{output};
  for (std::string line; std::getline(text, line);) {
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

// The servers of the target that accept writes, each as a "redis://" target of its own.
inline std::vector<std::string> masters(const std::string& target) {
  const auto read = config::parse_target(target);
  if (!read) throw std::runtime_error("no target: " + read.error().sentence);
  if (read->scheme == "redis" || read->scheme == "rediss") return {target};
  std::vector<std::string> all;
  for (const auto& [host, port] : read->hosts) {
    const std::string url = "redis://" + host + ":" + std::to_string(port);
    if (read->scheme.ends_with("+sentinel")) {
      const auto said = redis_cli(url, "SENTINEL get-master-addr-by-name " + read->path);
      return {"redis://" + said.at(0) + ":" + said.at(1)};
    }
    if (redis_cli(url, "ROLE").at(0) == "master") all.push_back(url);
  }
  return all;
}

// The run's leftovers on the servers: locks, latches, every key with the run's name in it.
inline std::vector<std::string> keys_of_run(const std::string& target, const names& run) {
  std::vector<std::string> all;
  for (const std::string& master : masters(target)) {
    const auto here = redis_cli(master, "KEYS '*lockmark:" + run.run + ":*'");
    all.insert(all.end(), here.begin(), here.end());
  }
  return all;
}

}  // namespace lockmark::redis
