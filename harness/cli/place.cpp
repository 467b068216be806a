#include "harness/cli/place.hpp"

#include <fmt/core.h>

#include "deploy/local/registry.hpp"
#include "harness/config/target.hpp"
#include "harness/driver.hpp"

namespace lockmark::cli {
namespace {

std::string backend_of_scheme(const std::string& scheme) {
  if (scheme.starts_with("redis")) return "redis";
  return scheme;
}

config::target parse(const std::string& text) {
  const auto parsed = config::parse_target(text);
  if (!parsed) throw usage_error(fmt::format("--on: the target {}", parsed.error().sentence));
  return *parsed;
}

place at(const std::string& url, const std::string& topology) {
  const config::target where = parse(url);
  place p;
  p.url = url;
  p.redacted = where.redacted();
  p.backend = backend_of_scheme(where.scheme);
  p.topology = topology.empty() ? p.backend : topology;
  return p;
}

}  // namespace

place find_place(const std::string& target) {
  const config::target wanted = parse(target);
  if (wanted.scheme != "local") return at(target, "");
  for (const local::cluster_info& up : local::registry().status()) {
    if (up.topology == wanted.path) return at(up.target, wanted.path);
  }
  local::cluster own = local::cluster::start(wanted.path);
  place p = at(own.target(), wanted.path);
  p.own = std::move(own);
  return p;
}

}  // namespace lockmark::cli
