// The target of a run: the user's text resolved to reachable servers.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "deploy/inject/local_injector.hpp"
#include "deploy/inject/server_links.hpp"
#include "deploy/local/cluster.hpp"

namespace lockmark::cli {

struct resolved_target {
  std::string url;       // for drivers only: may contain a password
  std::string redacted;  // for display and files
  std::string form;      // as in the locks' declarations: "redis-cluster", "memory"
  std::string topology;  // the same, or its name in a targets file
  // Between those servers, and outlives them: null if no fault cuts links between them.
  std::unique_ptr<inject::server_links> between;
  std::optional<local::cluster> own;  // servers with the lifetime of this target
};

// Reads "redis://...", "memory:", ... ; starts the servers of "local:NAME", unless `lockmark up`
// runs them already and they can serve the job's faults. Throws usage_error and local::start_error.
resolved_target resolve_target(const std::string& target, const inject::fault_needs& needs = {});

// The form that resolve_target will return, as far as the name tells; starts nothing.
std::string expected_form(const std::string& target);

}  // namespace lockmark::cli
