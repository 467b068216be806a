// The jobs of workloads/jobs/ and workloads/faults.yaml, and the claims, carried inside the program
// so that it runs from anywhere.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace lockmark::workloads {

// Name ("contended") to text, as the files stood when the program was built.
const std::map<std::string, std::string_view, std::less<>>& shipped_jobs();

// workloads/claims.yaml.
std::string_view shipped_claims();

}  // namespace lockmark::workloads
