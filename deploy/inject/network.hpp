// The servers of a run behind proxies, for faults on the links of its clients: one link to each
// server for all clients, or one to each server for each participant.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "deploy/inject/partition.hpp"
#include "harness/faults/proxy/process.hpp"

namespace lockmark::inject {

struct known_server {
  std::string name;
  config::host_port address;  // as reached from here
};

class network {
 public:
  using link_list = faults::proxy_process::link_list;

  // Starts the proxies: `program` is lockmark. `participants`: 0 if clients are threads of this
  // process. `latency`: of each link. Throws faults::proxy_error.
  network(std::vector<known_server> servers, std::uint32_t participants, const std::string& program,
          const faults::link_latency& latency);

  faults::proxy_process& proxies() { return proxies_; }
  const faults::proxy_process& proxies() const { return proxies_; }

  // The URL through that participant's links (0 if there are none).
  std::string url_of(const std::string& url, std::uint32_t participant) const;

  // The links across the border around these servers and the participants (from 0) on their side.
  link_list links_across(std::vector<std::string> servers,
                         const std::vector<std::uint32_t>& participants) const;
  link_list links_of(std::uint32_t participant) const;
  // The participant whose link it is.
  std::uint32_t owner_of(std::size_t link) const { return links_.at(link).participant; }

 private:
  struct one {
    std::size_t server;
    std::uint32_t participant;
    std::uint16_t port;
  };
  std::vector<known_server> servers_;
  faults::proxy_process proxies_;
  std::vector<one> links_;  // by number
};

}  // namespace lockmark::inject
