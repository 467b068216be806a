// The requirements of a job's faults on its target, determined before the target is made.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/config/fault_plan.hpp"

namespace lockmark::inject {

struct fault_needs {
  bool own_servers = false;  // not those of `lockmark up`, which may be in use by others
  bool kept_data = false;    // a killed server comes back with its data
  bool clock_shim = false;
  bool proxies = false;    // between clients and servers
  bool partition = false;  // between servers that can be partitioned (local::can_partition)
  bool links = false;      // between servers of any kind
};
fault_needs needs_of(const std::vector<config::fault_plan>& plans);

// Whether the plan affects links between clients and servers.
bool uses_proxies(const config::fault_plan& plan);

// Index from 0; "participant 2" counts from 1.
std::uint32_t participant_in(const std::string& who);

// The paths of liblockmark_clock.so and liblockmark_links.so, beside this program. Throw
// usage_error if missing.
std::string clock_shim_path();
std::string link_shim_path();

}  // namespace lockmark::inject
