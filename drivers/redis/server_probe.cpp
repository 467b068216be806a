#include "drivers/redis/server_probe.hpp"

#include <cstdio>
#include <stdexcept>

namespace lockmark::redis {

std::vector<std::string> redis_cli(const std::string& target, const std::string& arguments) {
  const std::string command = "redis-cli --no-auth-warning -u '" + target + "' " + arguments;
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot start redis-cli");
  std::vector<std::string> lines{""};
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += static_cast<char>(c);
    }
  }
  lines.pop_back();
  if (pclose(pipe) != 0) throw std::runtime_error("redis-cli failed: " + command);
  std::erase(lines, "");
  return lines;
}

std::vector<std::string> keys_of_run(const std::string& target, const names& run) {
  return redis_cli(target, "KEYS '*lockmark:" + run.run + ":*'");
}

}  // namespace lockmark::redis
