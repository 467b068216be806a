// One run as one row of the comparison table.
//
// Reads run.json and computes nothing new. An INVALID or incomplete row keeps its figures, says so,
// and is never ranked.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/messages.hpp"
#include "harness/report/figures.hpp"
#include "harness/report/read.hpp"

namespace lockmark::report {

// The lowest and the highest of several runs. Of five, it holds the median of all runs there could
// be with 94 % confidence; of three with 75 %.
struct interval {
  double low = 0;
  double high = 0;
  bool operator==(const interval&) const = default;
};

struct row {
  std::string run;                // the folder's name
  std::vector<std::string> runs;  // of several that were made one row; else empty
  std::string lock;
  std::string topology;
  std::string implementation;
  std::string scenario;
  std::string safety_class;
  std::string durability;  // of its servers' data, as these are set; empty: not known
  bool at_rate = false;  // attempts arrived by a rate: the speed is in the waits, not in the grants
  bool complete = false;
  bool valid = false;  // false for an incomplete run
  bool bound = false;  // the harness was the limit: rates are lower, times upper bounds
  std::optional<message> untested;  // why the lock's verdict could not have been another one
  std::vector<message> reasons;     // of both verdicts
  std::vector<reading> values = std::vector<reading>(figures().size());  // as figures() has them
  // Of a row of several runs, in the same order; empty: of one run.
  std::vector<std::optional<interval>> intervals;
  // 1 plus the number of rows that are faster beyond their intervals; unset: not ranked.
  std::optional<std::size_t> rank;

  // REQUIRES: a figure's name.
  const std::optional<interval>& interval_of(const figure& f) const;
  const reading& operator[](std::string_view name) const;
  reading& operator[](std::string_view name);
  std::uint64_t samples() const;
};

// The options that make a run's lock a different one: " [indexed=false]", or nothing.
std::string options_of(const nlohmann::ordered_json& content);

// A lock with options counts as a separate lock: "memory/semaphore [places=2]".
std::string name_with_options(const row& r);

// Throws usage_error if run.json is incomplete.
row row_of(const recorded_run& run);

// Several runs of one thing as one row: medians, with the interval from the lowest to the highest;
// counts are sums. INVALID and incomplete runs are left out unless there are no others, and
// mentioned. `run` is the one with the median throughput. REQUIRES: at least one.
row merged(std::vector<row> repeats);

// Groups rows by scenario, in the order of each scenario's first row; within one the fastest first
// (by grants per second, at a given rate by the p99, after a fault by the recovery), then bounds,
// which are never ranked among what was measured, and unranked rows at the end in their given
// order. Rows of several runs get ranks: rows whose intervals overlap are not told
// apart.
std::vector<row> ranked(std::vector<row> rows);

// By scenario, backend, lock and topology: backends in this order, the others in that of their
// first row. `backends`: first words of locks' names.
std::vector<row> by_backend(std::vector<row> rows, std::span<const std::string_view> backends);

}  // namespace lockmark::report
