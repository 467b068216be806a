// The results of one claim's runs, and comparisons that guard against chance.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/report/figures.hpp"
#include "harness/report/read.hpp"

namespace lockmark::claims {

using runs_by_label = std::map<std::string, std::vector<report::recorded_run>, std::less<>>;

// A figure of several runs of one experiment.
struct figure {
  std::vector<double> values;  // sorted
  double least() const { return values.front(); }
  double most() const { return values.back(); }
  double median() const;
};

// "8200/s", "1.2 ms (1.1 ms to 1.4 ms)", "52 %".
std::string show(const figure& f, const report::figure& of);

class evidence {
 public:
  explicit evidence(runs_by_label runs) : runs_(std::move(runs)) {}

  // The figure from every finished run of the experiment; nothing if one of them lacks it, or there
  // are none. A censored time counts as its limit.
  std::optional<figure> of(std::string_view label, const report::figure& what) const;

  // The number of its runs with a violation.
  std::uint64_t violated_runs(std::string_view label) const;
  std::uint64_t runs(std::string_view label) const;
  // The number of runs without any grant after the last fault.
  std::uint64_t never_recovered(std::string_view label) const;

  const runs_by_label& all() const { return runs_; }

 private:
  const std::vector<report::recorded_run>& of_label(std::string_view label) const;
  runs_by_label runs_;
};

// Compares two figures. They differ only if their ranges do not touch: with three runs each, chance
// causes that in 1 of 10 cases, with five in 1 of 126.
enum class order { below, unclear, above };
order compare(const figure& a, const figure& b);

}  // namespace lockmark::claims
