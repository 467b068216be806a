// One Redis process of any topology: the settings that all of them share.
#pragma once

#include <string>
#include <vector>

#include "deploy/local/topology.hpp"

namespace lockmark::local {

// A Redis that listens on loopback and persists nothing; ready at PONG. The topology appends its
// own settings to `argv`.
server_spec redis_server(site& where, const std::string& name);

// redis-cli, as a step of a plan.
command redis_command(site& where, std::string purpose, int port, std::vector<std::string> words);

}  // namespace lockmark::local
