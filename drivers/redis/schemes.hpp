// The URL schemes of Redis targets, each plain and with TLS.
#pragma once

#include <array>

#include "harness/config/scheme.hpp"

namespace lockmark::redis {

constexpr config::scheme single_server(std::string_view name, std::string_view usage) {
  return {.name = name,
          .default_port = 6379,
          .path = config::path_rule::database_number,
          .usage = usage,
          .tls = name.starts_with("rediss"),
          .topology = "redis"};
}

constexpr config::scheme sentinels(std::string_view name, std::string_view usage) {
  return {.name = name,
          .default_port = 26379,
          .many_hosts = true,
          .path = config::path_rule::required_name,
          .usage = usage,
          .tls = name.starts_with("rediss"),
          .topology = "redis-sentinel"};
}

constexpr config::scheme many_servers(std::string_view name, std::string_view usage,
                                      std::string_view topology) {
  return {.name = name,
          .default_port = 6379,
          .many_hosts = true,
          .usage = usage,
          .tls = name.starts_with("rediss"),
          .topology = topology};
}

inline constexpr std::array schemes{
    single_server("redis", "redis://[user:pass@]host[:port][/db]"),
    sentinels("redis+sentinel", "redis+sentinel://h1,h2,h3/NAME"),
    many_servers("redis+cluster", "redis+cluster://h1,h2", "redis-cluster"),
    many_servers("redis+clusters", "redis+clusters://h1,h2", "redis-clusters"),
    many_servers("redis+independent", "redis+independent://h1,h2,h3", "redis-independent"),
    single_server("rediss", "rediss://[user:pass@]host[:port][/db]"),
    sentinels("rediss+sentinel", "rediss+sentinel://h1,h2,h3/NAME"),
    many_servers("rediss+cluster", "rediss+cluster://h1,h2", "redis-cluster"),
    many_servers("rediss+clusters", "rediss+clusters://h1,h2", "redis-clusters"),
    many_servers("rediss+independent", "rediss+independent://h1,h2,h3", "redis-independent"),
};

}  // namespace lockmark::redis
