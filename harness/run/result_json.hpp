// The contents of run.json: a result as JSON, schema_version 1.11 (results/schema/run.schema.json).
//
// Units come last in names. Unknown values are null and never left out; NaN is null too. A duration
// that is only known to exceed N nanoseconds is the string "> N". Holds that violate exclusion are
// given in nanoseconds since the window began, so they may be negative in warm-up. The target is
// written as in the result: redacted.
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
