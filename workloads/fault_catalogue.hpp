// The catalogue of `lockmark faults`: which fault is tried on which locks and servers.
//
// What a scenario does, and what it is to show, stands in its job: workloads/faults.yaml.
#pragma once

#include <string_view>
#include <vector>

#include "harness/features.hpp"

namespace lockmark::workloads {

struct scenario {
  std::string_view name;        // of its job
  std::string_view locks;       // globs, separated by blanks
  features with;                // which they must have, too
  std::string_view topologies;  // the same, as deploy/local names them
  std::string_view options;     // of the lock: "release=del"; or empty
  std::string_view query;       // added to the target: "writers=all"; or empty
};

// In the order in which they are explained. A name stands once for each set of options.
const std::vector<scenario>& fault_catalogue();

// Whether the scenario is for such a lock, wherever that runs: by its name and by what it can do.
// Scenarios are about one holder: none is for what several may hold, or for what excludes nobody.
bool concerns(const scenario& s, std::string_view lock, features has);

}  // namespace lockmark::workloads
