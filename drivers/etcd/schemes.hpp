// The URL scheme of etcd targets.
#pragma once

#include <array>

#include "harness/config/scheme.hpp"

namespace lockmark::etcd {

inline constexpr std::array schemes{
    config::scheme{.name = "etcd",
                   .default_port = 2379,
                   .many_hosts = true,
                   .usage = "etcd://[user:pass@]h1,h2,h3",
                   .topology = "etcd",
                   .topology_of_several = "etcd-3",
                   .counts_hosts = true},
};

}  // namespace lockmark::etcd
