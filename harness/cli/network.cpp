#include "harness/cli/network.hpp"

#include <algorithm>

#include "harness/cli/detour.hpp"

namespace lockmark::cli {

network::network(std::vector<known_server> servers, std::uint32_t participants,
                 const std::string& program)
    : servers_(std::move(servers)), proxies_({program, "proxy"}) {
  for (std::uint32_t p = 0; p < std::max(participants, 1U); ++p) {
    for (std::size_t s = 0; s < servers_.size(); ++s) {
      const faults::proxied made = proxies_.open(servers_[s].address);
      links_.push_back({s, p, made.port});
    }
  }
}

std::string network::url_of(const std::string& url, std::uint32_t participant) const {
  detours ways;
  for (const one& each : links_) {
    if (each.participant != participant) continue;
    ways[servers_[each.server].address] = {"127.0.0.1", each.port};
  }
  return url_by(url, ways);
}

network::link_list network::links_to(const std::vector<std::string>& servers) const {
  link_list found;
  for (std::size_t n = 0; n < links_.size(); ++n) {
    if (std::ranges::count(servers, servers_[links_[n].server].name) > 0) found.push_back(n);
  }
  return found;
}

network::link_list network::links_of(std::uint32_t participant) const {
  link_list found;
  for (std::size_t n = 0; n < links_.size(); ++n) {
    if (links_[n].participant == participant) found.push_back(n);
  }
  return found;
}

}  // namespace lockmark::cli
