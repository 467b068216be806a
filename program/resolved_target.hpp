// Where a run goes: a target as the user wrote it, made into servers that can be asked.
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
  std::string url;       // for drivers only: may carry a password
  std::string redacted;  // for people and files
  std::string form;      // as locks declare where they run: "redis-cluster", "memory"
  std::string topology;  // the same, or the name that a targets file gives it
  // Between those servers, and longer than they: null where no fault parts them.
  std::unique_ptr<inject::server_links> between;
  std::optional<local::cluster> own;  // servers that live as long as this target
};

// Reads "redis://...", "memory:", ... ; starts the servers of "local:NAME", unless `lockmark up`
// has them running already and the job's faults can do with those. Throws usage_error and
// local::start_error.
resolved_target resolve_target(const std::string& target, const inject::fault_needs& needs = {});

// The form that resolve_target will find there, as far as the name tells; starts nothing.
std::string expected_form(const std::string& target);

}  // namespace lockmark::cli
