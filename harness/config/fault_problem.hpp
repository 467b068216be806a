// The check of a job's faults while its file and lines are still known. The kinds of faults know
// their keys, so harness/faults defines it.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace lockmark::config {

struct fault_problem {
  std::string key;  // "faults.1.at"; may be a missing key
  std::string sentence;
};

// `keys`: "1.do", "1.at", ... Nothing if faults::read_faults accepts them. Defined in
// harness/faults/plan_reader.cpp.
std::optional<fault_problem> find_fault_problem(const std::map<std::string, std::string>& keys);

}  // namespace lockmark::config
