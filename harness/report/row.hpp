// One run as one row of the comparison table.
//
// Reads what run.json says and computes nothing new. A row that is INVALID or incomplete keeps its
// figures, says so, and never takes part in a ranking.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/report/read.hpp"

namespace lockmark::report {

// Nanoseconds or, if `censored`, only known to be more than so many.
struct time_value {
  std::int64_t ns = 0;
  bool censored = false;

  bool operator==(const time_value&) const = default;
};

struct row {
  std::string run;  // the folder's name
  std::string lock;
  std::string topology;
  std::string implementation;
  std::string scenario;
  std::optional<double> success_rate;  // 0 to 1
  std::optional<double> tps;
  std::uint64_t samples = 0;
  // Response of all attempts; nothing where the samples are too few.
  std::optional<time_value> p50, p90, p99, p999, max;
  std::optional<std::int64_t> handoff_p50_ns;  // of transfers
  std::optional<double> fairness;              // Jain's index in windows
  std::optional<double> commands_per_acquire;
  std::string safety_class;
  std::optional<std::uint64_t> violations;  // optimistic locks: lost updates
  bool complete = false;
  bool valid = false;  // an incomplete run is not
  bool bound = false;  // the harness was the limit: tps is at least, times are at most
  std::vector<std::string> reasons;
};

// Throws usage_error if run.json lacks something.
row row_of(const recorded_run& run);

// Rows of a scenario together, in the order of their first one; among them the fastest first, and
// at the end those that are not ranked, as they came.
std::vector<row> ranked(std::vector<row> rows);

// By scenario, backend, lock and topology, in the order in which the articles tell of them: MySQL,
// ZooKeeper, Redis, and then real clients in processes of their own.
std::vector<row> as_in_the_article(std::vector<row> rows);

}  // namespace lockmark::report
