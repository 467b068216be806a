// Where the edge probably is: the rate at which just as many attempts are late as an objective
// allows, from all probes together. It says which rate to try; it never says that one holds.
//
// Late attempts are taken to rise with the rate as a straight line does in log odds over log rate.
// Queues come near that around the edge, so a probe counts for less the further from it its share
// was. The posterior of the edge and of the line's slope, on a grid; both priors are flat in the
// logarithm.
#pragma once

#include <vector>

#include "harness/capacity/evidence.hpp"

namespace lockmark::capacity {

class edge_estimate {
 public:
  // `allowed`: share of attempts that may be late.
  explicit edge_estimate(double allowed) : allowed_(allowed) {}

  void add(double rate_per_s, const share_bounds& late);

  // Needs a probe. The edge lies below this rate with probability `q`.
  double quantile_per_s(double q) const;

  // Needs a probe. How steeply the log odds of being late rise with the logarithm of the rate.
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
