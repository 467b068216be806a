// What Sentinel and the servers under it answer when asked who is the master. Values only.
#pragma once

#include <optional>

#include "drivers/redis/resp.hpp"
#include "harness/config/target.hpp"

namespace lockmark::redis {

// To SENTINEL get-master-addr-by-name. Nothing: this sentinel knows no master of that name.
std::optional<config::host_port> parse_master_address(const reply& r);

// To ROLE: whether this server takes writes.
bool is_master(const reply& role);

}  // namespace lockmark::redis
