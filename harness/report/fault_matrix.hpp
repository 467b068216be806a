// Locks by fault scenarios: safe or violated, how often of how many, and how long until it could be
// taken again.
//
// Reads what run.json says of its faults and adds up the repetitions; computes nothing else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/report/read.hpp"

namespace lockmark::report {

// One lock on one topology in one scenario, over its repetitions.
struct fault_cell {
  std::string scenario;
  std::string lock;  // with its options: "NAME [release=del]"
  std::string topology;
  std::uint64_t runs = 0;
  std::uint64_t violated = 0;        // runs in which two held it
  std::uint64_t incomplete = 0;      // runs that could not be finished
  std::uint64_t untested = 0;        // runs in which nobody was granted or refused the lock
  std::uint64_t violations = 0;      // in all of them
  std::uint64_t among_others = 0;    // of these, without the hold that a fault hit
  std::uint64_t stale_accesses = 0;  // by the guard: what a fence would have refused
  bool fenced = false;               // the lock has tokens to do it with
  // Of the last fault of each run; nothing for a run after which no grant came any more.
  std::vector<std::optional<std::int64_t>> recoveries_ns;
  std::string theory;          // "1.5 s: the rest of the lease of 2 s"; empty: none
  std::uint64_t agreeing = 0;  // of recoveries_ns, with it
};

// In the order of the runs. Throws usage_error for a run.json that lacks something.
std::vector<fault_cell> fault_cells(const std::vector<recorded_run>& runs);

// "safe", "2/3 violated", with the longest recovery: "safe, 1.5 s", "safe, never".
std::string verdict_text(const fault_cell& cell);

// The matrix, one for each backend, with a row per lock and topology, and then a table per scenario
// with theory beside measurement.
std::string fault_matrix_markdown(const std::vector<fault_cell>& cells);
std::string fault_matrix_json(const std::vector<fault_cell>& cells);

}  // namespace lockmark::report
