// A local cluster with proxies between its servers, so that they can be parted from each other: one
// link for each ordered pair of servers and each port used between them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "deploy/inject/partition.hpp"
#include "deploy/local/topology.hpp"
#include "harness/faults/proxy/process.hpp"

namespace lockmark::inject {

class server_links {
 public:
  // `program` is lockmark, which also serves as its own proxies.
  explicit server_links(std::string program = "/proc/self/exe") : program_(std::move(program)) {}

  // A local::go_between; starts the proxies. Called once. Throws faults::proxy_error.
  std::vector<int> open(const std::vector<local::peer_way>& ways);

  // Link numbers are those of proxies().
  link_numbers across(const std::vector<std::string>& side) const {
    return links_across(links_, side);
  }
  link_numbers joining(const std::string& one, const std::string& other) const {
    return links_joining(links_, one, other);
  }

  // REQUIRES: open() was called with at least one way.
  faults::proxy_process& proxies() { return *proxies_; }

 private:
  std::string program_;
  std::unique_ptr<faults::proxy_process> proxies_;
  std::vector<link_ends> links_;  // by number
};

// Makes a cluster start its servers behind the links. `links` must outlive the start. Throws
// usage_error if the shim is missing.
void put_between(server_links& links, local::options& with);

}  // namespace lockmark::inject
