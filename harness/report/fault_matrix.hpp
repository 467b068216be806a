// Locks by fault scenarios: safe or violated, in how many of how many runs, and the recovery time.
//
// Reads the faults in run.json and sums over the repetitions; computes nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/report/read.hpp"
#include "harness/report/style.hpp"

namespace lockmark::report {

// One lock on one topology in one scenario, over its repetitions.
struct fault_cell {
  std::string scenario;
  std::string lock;  // with its options: "NAME [release=del]"
  std::string topology;
  std::uint64_t runs = 0;
  std::uint64_t violated = 0;        // runs with two holders at once
  std::uint64_t incomplete = 0;      // runs that could not be finished
  std::uint64_t untested = 0;        // runs in which no client was granted or refused the lock
  std::uint64_t safe = 0;            // runs that were finished, and tested it, and found nothing
  std::uint64_t violations = 0;      // total over all runs
  std::uint64_t among_others = 0;    // of these, not involving the hold that a fault hit
  std::uint64_t stale_accesses = 0;  // by the guard: accesses that a fence would have refused
  bool fenced = false;               // the lock has fencing tokens for that
  // After the last fault of each run; nothing if no grant followed.
  std::vector<std::optional<std::int64_t>> recoveries_ns;
  std::string theory;          // "1.5 s: the rest of the lease of 2 s"; empty: none
  std::uint64_t agreeing = 0;  // of recoveries_ns, those that agree with it
  // Of recoveries_ns, those that would have come after the end of their run; the rest disagree.
  std::uint64_t not_observed = 0;
};

// In the order of the runs. Throws usage_error if a run.json is incomplete.
std::vector<fault_cell> fault_cells(const std::vector<recorded_run>& runs);

// "safe in 1 of 1 run; next grant 1.5 s after the fault", "violated in 2 of 3 runs; not granted
// again": for people, with the longest recovery.
std::string verdict_text(const fault_cell& cell);

// Why a lock without a violation is not called safe. REQUIRES: no run was safe.
std::string not_safe_text(const fault_cell& cell);

// One matrix per backend, with a row per lock and topology, then a table per scenario with theory
// beside measurement.
std::string fault_matrix_markdown(const std::vector<fault_cell>& cells);
// The same for a terminal: a paragraph per scenario and lock, every figure with its name.
std::string fault_matrix_text(const std::vector<fault_cell>& cells, std::size_t width,
                              const style& look = {});
std::string fault_matrix_json(const std::vector<fault_cell>& cells);

}  // namespace lockmark::report
