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

struct row {
  std::string run;  // the folder's name
  std::string lock;
  std::string topology;
  std::string implementation;
  std::string scenario;
  std::string safety_class;
  bool complete = false;
  bool valid = false;  // false for an incomplete run
  bool bound = false;  // the harness was the limit: rates are lower, times upper bounds
  std::optional<message> untested;  // why the lock's verdict could not have been another one
  std::vector<message> reasons;     // of both verdicts
  std::vector<reading> values = std::vector<reading>(figures().size());  // as figures() has them

  // REQUIRES: a figure's name.
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

// Groups rows by scenario, in the order of each scenario's first row; within one the fastest first,
// and unranked rows at the end in their given order.
std::vector<row> ranked(std::vector<row> rows);

// By scenario, backend, lock and topology: backends in this order, the others in that of their
// first row. `backends`: first words of locks' names.
std::vector<row> by_backend(std::vector<row> rows, std::span<const std::string_view> backends);

}  // namespace lockmark::report
