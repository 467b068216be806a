// A target's URL that leads through addresses other than the servers' own.
#pragma once

#include <map>
#include <string>

#include "harness/config/target.hpp"

namespace lockmark::inject {

// Keyed by the servers' addresses without the detour.
using detours = std::map<config::host_port, config::host_port>;

// The URL with the hosts that have a detour replaced, and with a `nat` for the addresses that
// servers announce of each other. The rest stays as written, passwords too. REQUIRES: a URL of a
// network target.
std::string url_by(const std::string& url, const detours& ways);

}  // namespace lockmark::inject
