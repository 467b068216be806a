// One run as one row of the comparison table.
//
// Reads what run.json says and computes nothing new. A row that is INVALID or incomplete keeps its
// figures, says so, and never takes part in a ranking.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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
  bool valid = false;  // an incomplete run is not
  bool bound = false;  // the harness was the limit: rates are at least, times are at most
  std::vector<std::string> reasons;
  std::vector<reading> values = std::vector<reading>(figures().size());  // as figures() has them

  // REQUIRES: a figure's name.
  const reading& operator[](std::string_view name) const;
  reading& operator[](std::string_view name);
  std::uint64_t samples() const;
};

// Throws usage_error if run.json lacks something.
row row_of(const recorded_run& run);

// Rows of a scenario together, in the order of their first one; among them the fastest first, and
// at the end those that are not ranked, as they came.
std::vector<row> ranked(std::vector<row> rows);

// By scenario, backend, lock and topology: backends in this order, the others in that of their
// first row. `backends`: first words of locks' names.
std::vector<row> by_backend(std::vector<row> rows, std::span<const std::string_view> backends);

}  // namespace lockmark::report
