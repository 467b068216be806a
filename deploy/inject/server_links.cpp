#include "deploy/inject/server_links.hpp"

#include "deploy/inject/fault_needs.hpp"

namespace lockmark::inject {

// Not earlier: the cluster forks before it calls this, and the proxies start a thread.
std::vector<int> server_links::open(const std::vector<local::peer_way>& ways) {
  std::vector<int> ports;
  if (ways.empty()) return ports;
  proxies_ = std::make_unique<faults::proxy_process>(std::vector<std::string>{program_, "proxy"});
  for (const local::peer_way& way : ways) {
    const auto port = static_cast<std::uint16_t>(way.port);
    const faults::proxied made = proxies_->open({"127.0.0.1", port});
    links_.push_back({way.from, way.to});
    ports.push_back(made.port);
  }
  return ports;
}

void put_between(server_links& links, local::options& with) {
  with.link_shim = link_shim_path();
  with.between = [&links](const std::vector<local::peer_way>& ways) { return links.open(ways); };
}

}  // namespace lockmark::inject
