// The forms of targets for MySQL and MariaDB.
#pragma once

#include <array>

#include "harness/config/scheme.hpp"

namespace lockmark::mysql {

inline constexpr std::array schemes{
    config::scheme{.name = "mysql",
                   .default_port = 3306,
                   .many_hosts = true,
                   .path = config::path_rule::optional_name,
                   .usage = "mysql://[user:pass@]host[:port][/db]",
                   .topology = "mysql",
                   .topology_of_several = "mysql-replicated"},
    config::scheme{.name = "mysql+galera",
                   .default_port = 3306,
                   .many_hosts = true,
                   .path = config::path_rule::optional_name,
                   .usage = "mysql+galera://h1,h2,h3[/db]",
                   .topology = "mysql-galera"},
};

}  // namespace lockmark::mysql
