#include "deploy/inject/network.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "deploy/inject/detour.hpp"

namespace lockmark::inject {

network::network(std::vector<known_server> servers, std::uint32_t participants,
                 const std::string& program, const faults::link_latency& latency)
    : servers_(std::move(servers)), proxies_({program, "proxy"}) {
  for (std::uint32_t p = 0; p < std::max(participants, 1U); ++p) {
    for (std::size_t s = 0; s < servers_.size(); ++s) {
      const faults::proxied made = proxies_.open(servers_[s].address, 0, latency);
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

network::link_list network::links_across(std::vector<std::string> servers,
                                         const std::vector<std::uint32_t>& participants) const {
  const auto name_of = [](std::uint32_t p) { return fmt::format("participant {}", p + 1); };
  std::vector<link_ends> ends;
  for (const one& each : links_) {
    ends.push_back({name_of(each.participant), servers_[each.server].name});
  }
  for (const std::uint32_t p : participants) servers.push_back(name_of(p));
  return inject::links_across(ends, servers);
}

network::link_list network::links_of(std::uint32_t participant) const {
  link_list found;
  for (std::size_t n = 0; n < links_.size(); ++n) {
    if (links_[n].participant == participant) found.push_back(n);
  }
  return found;
}

}  // namespace lockmark::inject
