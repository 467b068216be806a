#include "drivers/conformance/network.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

namespace lockmark::conformance {
namespace {

config::target parse(const std::string& url) {
  const auto parsed = config::parse_target(url);
  if (!parsed) throw std::runtime_error(fmt::format("the target {}", parsed.error().sentence));
  if (parsed->hosts.empty()) throw std::runtime_error("the target is not on the network");
  return *parsed;
}

config::host_port read_address(const std::string& text) {
  return parse(fmt::format("zookeeper://{}", text)).hosts.at(0);
}

std::vector<std::string> pieces_of(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  while (!text.empty()) {
    const auto end = std::min(text.find(separator), text.size());
    pieces.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return pieces;
}

}  // namespace

std::string url_parts::to_string() const {
  std::vector<std::string> host_texts;
  for (const auto& h : hosts) host_texts.push_back(config::to_string(h));
  std::vector<std::string> nat_texts;
  for (const auto& [from, to] : nat) {
    nat_texts.push_back(fmt::format("{}>{}", config::to_string(from), config::to_string(to)));
  }
  std::vector<std::string> all = query;
  if (!nat.empty()) all.push_back(fmt::format("nat={}", fmt::join(nat_texts, ",")));
  return fmt::format("{}{}{}{}{}{}", scheme, userinfo, fmt::join(host_texts, ","), path,
                     all.empty() ? "" : "?", fmt::join(all, "&"));
}

url_parts split_url(const std::string& url) {
  const config::target parsed = parse(url);
  url_parts parts;
  const auto authority = url.find("://") + 3;
  const auto query = std::min(url.find('?'), url.size());
  const auto path = std::min(url.find('/', authority), query);
  const auto at = url.substr(0, path).rfind('@');
  const auto hosts = at == std::string::npos ? authority : at + 1;
  parts.scheme = url.substr(0, authority);
  parts.userinfo = url.substr(authority, hosts - authority);
  parts.hosts = parsed.hosts;
  parts.path = url.substr(path, query - path);
  parts.nat = parsed.nat;
  for (const auto& piece : pieces_of(std::string_view{url}.substr(query), '&')) {
    const std::string pair = piece.starts_with('?') ? piece.substr(1) : piece;
    if (!pair.starts_with("nat=")) parts.query.push_back(pair);
  }
  return parts;
}

// The servers that get a proxy each, and the names that lead to them.
struct shaky_network::plan {
  plan(const std::string& url, const std::vector<std::string>& hidden) : parts(split_url(url)) {
    for (const auto& [name, reached] : parts.nat) named.emplace(name, place_of(reached));
    for (const auto& text : hidden) {
      const config::host_port name = read_address(text);
      const auto known = parts.nat.find(name);
      named.emplace(name, place_of(known == parts.nat.end() ? name : known->second));
    }
    for (const auto& h : parts.hosts) hosts.push_back(place_of(h));
    if (named.empty()) return;
    for (std::size_t n = 0; n < hosts.size(); ++n) named.emplace(parts.hosts[n], hosts[n]);
  }

  // One server has one proxy, however many names it has.
  std::size_t place_of(const config::host_port& server) {
    const auto found = std::find(servers.begin(), servers.end(), server);
    if (found != servers.end()) return static_cast<std::size_t>(found - servers.begin());
    servers.push_back(server);
    return servers.size() - 1;
  }

  url_parts parts;
  std::vector<config::host_port> servers;  // addresses as reached from here
  std::vector<std::size_t> hosts;          // indexes into servers
  std::map<config::host_port, std::size_t> named;
};

shaky_network::shaky_network(const std::string& url, const std::vector<std::string>& hidden)
    : shaky_network(plan{url, hidden}) {}

shaky_network::shaky_network(plan p)
    : url_(std::move(p.parts)), host_proxies_(std::move(p.hosts)), proxies_(p.servers) {
  for (std::size_t n = 0; n < url_.hosts.size(); ++n) {
    url_.hosts[n] = proxies_.address(host_proxies_[n]);
  }
  for (const auto& [name, place] : p.named) {
    url_.nat[name] = proxies_.address(place);
    names_.push_back(config::to_string(name));
  }
  for (std::size_t n = 0; n < p.servers.size(); ++n) {
    names_.push_back(config::to_string(proxies_.address(n)));
  }
}

void shaky_network::set_host(std::size_t which, proxy_mode m) {
  proxies_.set(host_proxies_.at(which), m);
}

bool shaky_network::is_named_in(std::string_view sentence) const {
  return std::any_of(names_.begin(), names_.end(), [&](const std::string& name) {
    return sentence.find(name) != std::string_view::npos;
  });
}

}  // namespace lockmark::conformance
