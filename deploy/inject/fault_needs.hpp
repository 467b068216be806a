// What a job's faults need of the place where it runs, before it is made.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/config/fault_plan.hpp"

namespace lockmark::inject {

struct fault_needs {
  bool own_servers = false;  // not those of `lockmark up`, which others may be using
  bool kept_data = false;    // a killed server comes back with its data
  bool clock_shim = false;
  bool proxies = false;    // between clients and servers
  bool partition = false;  // between servers where these can be parted (local::can_partition)
  bool links = false;      // between servers, wherever that is
};
fault_needs needs_of(const std::vector<config::fault_plan>& plans);

// Whether the plan concerns the links of clients to servers.
bool uses_proxies(const config::fault_plan& plan);

// "participant 2" counts from 1, this from 0.
std::uint32_t participant_in(const std::string& who);

// Where liblockmark_clock.so is, and liblockmark_links.so: beside this program. Throw usage_error
// if it is not.
std::string clock_shim_path();
std::string link_shim_path();

}  // namespace lockmark::inject
