#include "drivers/redis/server_probe.hpp"

#include <algorithm>
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

namespace {

// "h1:1", "h2:2" of "redis+cluster://h1:1,h2:2/name?query".
std::vector<std::string> hosts_of(const std::string& target) {
  std::string rest = target.substr(target.find("://") + 3);
  rest = rest.substr(0, rest.find_first_of("/?"));
  rest = rest.substr(rest.find('@') + 1);
  std::vector<std::string> hosts;
  for (std::size_t from = 0; from <= rest.size();) {
    const auto end = std::min(rest.find(',', from), rest.size());
    hosts.push_back(rest.substr(from, end - from));
    from = end + 1;
  }
  return hosts;
}

}  // namespace

std::vector<std::string> masters(const std::string& target) {
  const std::string scheme = target.substr(0, target.find("://"));
  if (scheme.ends_with("+sentinel")) {
    const std::string name = target.substr(target.rfind('/') + 1);
    const auto said =
        redis_cli("redis://" + hosts_of(target).front(),
                  "SENTINEL get-master-addr-by-name " + name.substr(0, name.find('?')));
    return {"redis://" + said.at(0) + ":" + said.at(1)};
  }
  if (scheme == "redis" || scheme == "rediss") return {target};
  std::vector<std::string> all;
  for (const std::string& host : hosts_of(target)) {
    if (redis_cli("redis://" + host, "ROLE").at(0) == "master") all.push_back("redis://" + host);
  }
  return all;
}

std::vector<std::string> keys_of_run(const std::string& target, const names& run) {
  std::vector<std::string> all;
  for (const std::string& master : masters(target)) {
    const auto here = redis_cli(master, "KEYS '*lockmark:" + run.run + ":*'");
    all.insert(all.end(), here.begin(), here.end());
  }
  return all;
}

}  // namespace lockmark::redis
