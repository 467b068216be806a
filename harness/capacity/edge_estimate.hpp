// The probable edge: the rate at which exactly as many attempts are late as an objective allows,
// estimated from all probes together. It suggests which rate to try; it never shows that one holds.
//
// The log odds of late attempts are assumed to rise in a straight line over the log rate. Queues
// come close to that around the edge, so a probe counts for less the further its share was from the
// edge. Computes the posterior of the edge and of the line's slope on a grid; both priors are flat
// in the logarithm.
#pragma once

#include <vector>

#include "harness/capacity/evidence.hpp"

namespace lockmark::capacity {

class edge_estimate {
 public:
  // `allowed`: share of attempts that may be late.
  explicit edge_estimate(double allowed) : allowed_(allowed) {}

  void add(double rate_per_s, const share_bounds& late);

  // The edge lies below this rate with probability `q`. REQUIRES: a probe.
  double quantile_per_s(double q) const;

  // How steeply the log odds of being late rise with the log rate. REQUIRES: a probe.
  double slope() const;

 private:
  struct seen {
    double rate_per_s;
    share_bounds late;
  };
  struct belief {
    double log_edge;
    double slope;
    double probability;
  };
  double worth_of_an_attempt() const;
  double log_likelihood(double log_edge, double slope, double worth_of_each) const;
  void find_posterior();

  double allowed_;
  std::vector<seen> seen_;
  std::vector<belief> posterior_;  // in the order of log_edge
};

}  // namespace lockmark::capacity
