// For tests of reports and other output: the result of a fictitious run with every figure filled
// in, and the intervals that make up its totals.
#pragma once

#include <vector>

#include "harness/run/result.hpp"

namespace lockmark::run {

struct sample_run {
  result r;
  std::vector<interval> intervals;  // their sum is r.totals
  std::vector<std::int64_t> at_ns;  // since the window began

  sample_run();
  // The result as known when the window begins.
  result known() const;

 private:
  void add_interval(std::int64_t start_ns, std::int64_t end_ns, int attempts);
};

// Client 6 (instance 1, client 2) is granted key 0 while client 1 holds it.
check::violation sample_violation(const result& r);

}  // namespace lockmark::run
