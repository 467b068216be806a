// What launchers need, on this machine: hosts that are reached by ssh, and a cluster of Slurm.
// Local clusters of programs that are no lock servers; everything of theirs is in their directory,
// and ends with them.
#pragma once

#include <filesystem>

#include "deploy/local/topology.hpp"

namespace lockmark::cli {

// h1, h2 and h3: an sshd with keys of its own, in which each session has a folder of its own. A
// program `ssh` in sshd's folder knows them, and also those that fail: `closed`, where nothing
// listens; `stranger`, which wants another key; `nowhere`, a name without an address.
local::topology ssh_hosts();
// The folders of the sessions.
std::filesystem::path sessions_of(const std::filesystem::path& cluster);

// Three nodes h1, h2 and h3, their controller, and munge, which authenticates them.
local::topology slurm_nodes();
// What SLURM_CONF has to be.
std::filesystem::path slurm_configuration(const std::filesystem::path& cluster);

}  // namespace lockmark::cli
