// Redis as a local server.
#include <fmt/format.h>

#include "deploy/local/servers.hpp"
#include "deploy/local/settings.hpp"

namespace lockmark::local {

server_spec redis_server(site& where, const std::string& name) {
  server_spec server;
  server.name = name;
  server.port = where.ports.take(name);
  server.ready = redis_probe();
  server.time_limit = std::chrono::seconds{10};
  server.data = {"appendonlydir", "dump.rdb"};
  server.argv = {where.program("redis-server", "redis-server")};
  add_words(server.argv, "redis",
            {{"port", server.port},
             {"keeps_data", where.keeps_data},
             {"folder", where.folder(name).string()}});
  return server;
}

void give_configuration(server_spec& server, const site& where, const std::string& text) {
  const std::filesystem::path file = where.folder(server.name) / "redis.conf";
  server.files.push_back({file, text});
  server.argv.insert(server.argv.begin() + 1, file.string());
}

command redis_command(site& where, std::string purpose, int port, std::vector<std::string> words) {
  std::vector<std::string> argv{where.program("redis-cli", "redis-tools")};
  for (std::string word : {"-e", "-h", "127.0.0.1", "-p"}) argv.push_back(std::move(word));
  argv.push_back(fmt::format("{}", port));
  argv.insert(argv.end(), words.begin(), words.end());
  return {.purpose = std::move(purpose), .argv = std::move(argv)};
}

plan single_redis(site& where) {
  plan result;
  result.servers.push_back(redis_server(where, "redis"));
  result.target = fmt::format("redis://{}", addresses_of(result.servers));
  return result;
}

// Five, as on Redis's page on distributed locks: two of them may fail.
plan redis_independent(site& where) {
  plan result;
  for (int n = 1; n <= 5; ++n) {
    result.servers.push_back(redis_server(where, fmt::format("redis-{}", n)));
  }
  result.target = fmt::format("redis+independent://{}", addresses_of(result.servers));
  return result;
}

}  // namespace lockmark::local
