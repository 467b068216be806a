#include "program/resolved_target.hpp"

#include <fmt/core.h>

#include "deploy/local/registry.hpp"
#include "deploy/local/roles.hpp"
#include "deploy/local/versions.hpp"
#include "harness/base/errors.hpp"
#include "harness/config/scheme.hpp"
#include "harness/config/target.hpp"

namespace lockmark::cli {
namespace {

// The locks' name for such servers. Neither TLS nor the size of an ensemble changes it.
std::string form_of(const config::target& t) {
  const config::scheme& known = *config::find_scheme(t.scheme);
  const bool several = t.hosts.size() > 1 && !known.topology_of_several.empty();
  return std::string(several ? known.topology_of_several : known.topology);
}

// A table shows the size of an ensemble, though all sizes are one form to a lock.
std::string topology_of(const config::target& t) {
  const config::scheme& known = *config::find_scheme(t.scheme);
  if (known.counts_hosts && t.hosts.size() > 1) {
    return fmt::format("{}-{}", known.topology, t.hosts.size());
  }
  return form_of(t);
}

config::target parse(const std::string& text) {
  const auto parsed = config::parse_target(text);
  if (!parsed) throw usage_error("--on: the target {}", parsed.error().sentence);
  return *parsed;
}

resolved_target at(const std::string& url, const std::string& topology) {
  const config::target where = parse(url);
  resolved_target p;
  p.url = url;
  p.redacted = where.redacted();
  p.form = form_of(where);
  p.topology = topology.empty() ? topology_of(where) : topology;
  return p;
}

}  // namespace

resolved_target resolve_target(const std::string& target, const inject::fault_needs& needs) {
  const config::target wanted = parse(target);
  if (wanted.scheme != "local") return at(target, "");
  const bool parts = needs.links || (needs.partition && local::can_partition(wanted.path));
  for (const local::cluster_info& up : local::registry().status()) {
    const bool fits = up.topology == wanted.path && !needs.own_servers && !parts;
    if (fits) return at(up.target, wanted.path);
  }
  local::options with;
  with.keeps_data = needs.kept_data;
  if (needs.clock_shim) with.clock_shim = inject::clock_shim_path();
  std::unique_ptr<inject::server_links> between;
  if (parts) {
    between = std::make_unique<inject::server_links>();
    inject::put_between(*between, with);
  }
  local::cluster own = local::cluster::start(wanted.path, with);
  resolved_target p = at(own.target(), wanted.path);
  p.between = std::move(between);
  p.own = std::move(own);
  return p;
}

std::string expected_form(const std::string& target) {
  const config::target wanted = parse(target);
  if (wanted.scheme != "local") return form_of(wanted);
  constexpr std::string_view tls = "-tls";
  const std::string kind = local::kind_of(wanted.path);
  const bool secured = kind.ends_with(tls);
  const std::string name = kind.substr(0, kind.size() - (secured ? tls.size() : 0));
  for (const config::scheme& known : config::schemes()) {
    const bool is_size = name.starts_with(fmt::format("{}-", known.topology));
    if (known.counts_hosts && is_size) return std::string(known.topology_of_several);
  }
  return name;
}

}  // namespace lockmark::cli
