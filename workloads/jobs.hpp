// The jobs of workloads/jobs/ and workloads/faults.yaml, and the claims, embedded in the program so
// that it runs from any folder.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace lockmark::workloads {

// Name ("contended") to text, as of the build.
const std::map<std::string, std::string_view, std::less<>>& shipped_jobs();

// workloads/claims.yaml.
std::string_view shipped_claims();

}  // namespace lockmark::workloads
