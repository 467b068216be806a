// Servers of other versions than the system's: NAME@VERSION in place of a topology's name.
//
// deploy/servers unpacks them, each into a folder of its own; their programs are found there
// instead of in PATH. Everything else of a topology is the same.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "deploy/local/topology.hpp"

namespace lockmark::local {

struct server_version {
  std::string product;  // with which names of topologies begin: "redis", "valkey"
  std::string version;  // "8.0"

  std::string name() const { return product + '@' + version; }
};

// What deploy/servers knows: the lines of versions.mustache.
std::vector<server_version> known_versions();

// What the servers are, whatever their version: "redis-cluster" for "valkey-cluster@9.1".
std::string kind_of(std::string_view topology);

// "redis-cluster@8.0" for "redis-cluster" if the environment's LOCKMARK_VERSION is "redis@8.0", and
// "valkey-cluster@9.1" if it is "valkey@9.1". For tests that are run on each version.
std::string of_version_under_test(std::string_view topology);
// Of these topologies those of its kind; without it, all.
std::vector<std::string> of_kind_under_test(std::vector<std::string> topologies);

// Where deploy/servers has put them: build/servers of the project in which this program was built,
// or of the current folder.
std::filesystem::path servers_folder();

// The topology of that name, with '@', and with programs from `servers`. Throws start_error for one
// that is unknown or has not been fetched.
topology topology_of_version(std::string_view name, const std::filesystem::path& servers);

}  // namespace lockmark::local
