// The catalogue of `lockmark faults`: which fault is tried on which locks and servers.
//
// What a scenario does, and what it is to show, stands in its job: workloads/jobs/faults/NAME.yaml.
#pragma once

#include <string_view>
#include <vector>

namespace lockmark::faults {

struct scenario {
  std::string_view name;        // of its job
  std::string_view locks;       // globs, separated by blanks
  std::string_view topologies;  // the same, as deploy/local names them
  std::string_view options;     // of the lock: "release=del"; or empty
  std::string_view query;       // added to the target: "writers=all"; or empty
};

// In the order in which they are explained. A name stands once for each set of options.
const std::vector<scenario>& catalogue();

}  // namespace lockmark::faults
