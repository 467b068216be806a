// Which fault of a run was on when its first violation happened.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace lockmark::report {

// "The first one, at 2.00 s, came while a fault was on (pause_holder): ...", or the last fault
// before it, or "No faults were injected". A clause without a full stop. Empty for a run without a
// shown violation, for runs of a version that kept no faults, and for a damaged run. `content`:
// run.json.
std::string fault_at_violation(const nlohmann::ordered_json& content);

}  // namespace lockmark::report
