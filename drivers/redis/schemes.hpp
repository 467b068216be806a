// How Redis is reached.
#pragma once

#include <array>

#include "harness/config/scheme.hpp"

namespace lockmark::redis {

inline constexpr std::array schemes{
    config::scheme{.name = "redis",
                   .default_port = 6379,
                   .path = config::path_rule::database_number,
                   .usage = "redis://[user:pass@]host[:port][/db]",
                   .topology = "redis"},
    config::scheme{.name = "redis+sentinel",
                   .default_port = 26379,
                   .many_hosts = true,
                   .path = config::path_rule::required_name,
                   .usage = "redis+sentinel://h1,h2,h3/NAME",
                   .topology = "redis-sentinel"},
    config::scheme{.name = "redis+cluster",
                   .default_port = 6379,
                   .many_hosts = true,
                   .usage = "redis+cluster://h1,h2",
                   .topology = "redis-cluster"},
    config::scheme{.name = "redis+independent",
                   .default_port = 6379,
                   .many_hosts = true,
                   .usage = "redis+independent://h1,h2,h3",
                   .topology = "redis-independent"},
    config::scheme{.name = "rediss",
                   .default_port = 6379,
                   .path = config::path_rule::database_number,
                   .usage = "rediss://[user:pass@]host[:port][/db]",
                   .tls = true,
                   .topology = "redis"},
    config::scheme{.name = "rediss+sentinel",
                   .default_port = 26379,
                   .many_hosts = true,
                   .path = config::path_rule::required_name,
                   .usage = "rediss+sentinel://h1,h2,h3/NAME",
                   .tls = true,
                   .topology = "redis-sentinel"},
    config::scheme{.name = "rediss+cluster",
                   .default_port = 6379,
                   .many_hosts = true,
                   .usage = "rediss+cluster://h1,h2",
                   .tls = true,
                   .topology = "redis-cluster"},
    config::scheme{.name = "rediss+independent",
                   .default_port = 6379,
                   .many_hosts = true,
                   .usage = "rediss+independent://h1,h2,h3",
                   .tls = true,
                   .topology = "redis-independent"},
};

}  // namespace lockmark::redis
