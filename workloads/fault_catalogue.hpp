// The catalogue of `lockmark faults`: which fault is tried on which locks and servers.
//
// A scenario's job in workloads/faults.yaml says what it does and what it should show.
#pragma once

#include <string_view>
#include <vector>

#include "harness/features.hpp"

namespace lockmark::workloads {

struct scenario {
  std::string_view name;        // of its job
  std::string_view locks;       // globs, separated by blanks
  features with;                // features that they must have, too
  std::string_view topologies;  // globs of names from deploy/local
  std::string_view options;     // of the lock: "release=del"; or empty
  std::string_view query;       // added to the target: "writers=all"; or empty
};

// In the order in which they are explained. A name appears once for each set of options.
const std::vector<scenario>& fault_catalogue();

// True if the scenario suits such a lock on any topology, by its name and its features. Scenarios
// are about one holder: none suits a lock that several clients may hold, or that excludes no
// client.
bool concerns(const scenario& s, std::string_view lock, features has);

}  // namespace lockmark::workloads
