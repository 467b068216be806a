// The URL schemes of ZooKeeper targets.
#pragma once

#include <array>

#include "harness/config/scheme.hpp"

namespace lockmark::zookeeper {

inline constexpr std::array schemes{
    config::scheme{.name = "zookeeper",
                   .default_port = 2181,
                   .many_hosts = true,
                   .path = config::path_rule::chroot,
                   .usage = "zookeeper://h1,h2,h3[/chroot]",
                   .topology = "zookeeper",
                   .topology_of_several = "zookeeper-3",
                   .counts_hosts = true},
};

}  // namespace lockmark::zookeeper
