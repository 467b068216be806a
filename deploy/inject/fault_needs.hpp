// The requirements of a job's faults on its target, determined before the target is made.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/config/job.hpp"
#include "harness/faults/kind.hpp"

namespace lockmark::inject {

using faults::fault_needs;
fault_needs needs_of(const std::vector<faults::fault_plan>& plans);
// Of its faults and of its network: where `lockmark up` runs the servers, only those that the URL
// names could be reached through proxies.
fault_needs needs_of(const config::job& job);

// Whether the plan affects links between clients and servers.
bool uses_proxies(const faults::fault_plan& plan);

// Index from 0; "participant 2" counts from 1.
std::uint32_t participant_in(const std::string& who);

// The paths of liblockmark_clock.so and liblockmark_links.so, that came with this
// program. Throw usage_error if missing.
std::string clock_shim_path();
std::string link_shim_path();

}  // namespace lockmark::inject
