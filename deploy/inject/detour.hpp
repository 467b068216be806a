// A target's URL that leads through other addresses than the servers' own.
#pragma once

#include <map>
#include <string>

#include "harness/config/target.hpp"

namespace lockmark::inject {

// By the servers' addresses as they are reached without it.
using detours = std::map<config::host_port, config::host_port>;

// The URL with its hosts replaced, and with a `nat` for what servers will tell of each other, both
// for those that have a detour. All else stays as it was written, passwords too. REQUIRES: a URL of
// a network target.
std::string url_by(const std::string& url, const detours& ways);

}  // namespace lockmark::inject
