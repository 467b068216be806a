// What run.json says: a result as JSON, schema_version 1.0 (results/schema/run.schema.json).
//
// Units come last in names. What is unknown is null and never left out; not a number is null too. A
// duration that is only known to exceed N nanoseconds is the string "> N". Holds that violate
// exclusion are told in nanoseconds since the window began, so they may be negative in warm-up.
// The target is written as the result has it: redacted.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "harness/run/result.hpp"

namespace lockmark::run {

nlohmann::ordered_json to_json(const result& r);

// The same sections for a run whose window has just begun: status "running", not complete.
nlohmann::ordered_json to_json_while_running(const result& known);

// As text, for files. Bytes that are not UTF-8 (arguments, host names) are replaced.
std::string dump(const nlohmann::ordered_json& content);

}  // namespace lockmark::run
