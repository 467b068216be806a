#include "deploy/inject/detour.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace lockmark::inject {
namespace {

const config::host_port& way_to(const detours& ways, const config::host_port& server) {
  const auto other = ways.find(server);
  return other == ways.end() ? server : other->second;
}

// The servers' names for each other, and the addresses where they can be reached now.
std::vector<std::string> translations(const config::target& t, const detours& ways) {
  // Only in these do servers announce other servers.
  const bool discovers =
      t.scheme.find("+sentinel") != std::string::npos || t.scheme.find("+cluster") != t.scheme.npos;
  std::map<config::host_port, config::host_port> all;
  for (const auto& [name, reached] : t.nat) all[name] = way_to(ways, reached);
  if (discovers) {
    for (const auto& [server, way] : ways) all.emplace(server, way);
  }
  std::vector<std::string> texts;
  for (const auto& [name, reached] : all) {
    texts.push_back(fmt::format("{}>{}", to_string(name), to_string(reached)));
  }
  return texts;
}

}  // namespace

std::string url_by(const std::string& url, const detours& ways) {
  const auto parsed = config::parse_target(url);
  const config::target& t = *parsed;
  const auto authority = url.find("://") + 3;
  const auto query = std::min(url.find('?'), url.size());
  const auto path = std::min(url.find('/', authority), query);
  const auto at = url.substr(0, path).rfind('@');
  const auto hosts = at == std::string::npos ? authority : at + 1;
  std::vector<std::string> host_texts;
  for (const auto& h : t.hosts) host_texts.push_back(to_string(way_to(ways, h)));
  std::vector<std::string> pairs;
  for (auto from = query; from < url.size();) {
    const auto end = std::min(url.find('&', from + 1), url.size());
    const std::string pair = url.substr(from + 1, end - from - 1);
    if (!pair.empty() && !pair.starts_with("nat=")) pairs.push_back(pair);
    from = end;
  }
  const auto nat = translations(t, ways);
  if (!nat.empty()) pairs.push_back(fmt::format("nat={}", fmt::join(nat, ",")));
  return fmt::format("{}{}{}{}{}", url.substr(0, hosts), fmt::join(host_texts, ","),
                     url.substr(path, query - path), pairs.empty() ? "" : "?",
                     fmt::join(pairs, "&"));
}

}  // namespace lockmark::inject
