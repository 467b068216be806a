// Quantiles over all attempts, including those that were never granted.
//
// A histogram of granted attempts alone looks better the worse the lock gets. So attempts that
// timed out, failed or had not ended count as later than every grant, and a quantile among them is
// only known to exceed the time they were observed: "> T". A grant may take longer than T, having
// waited for a free client first; then the quantile exceeds that as well, so that no censored
// quantile reads below a smaller one.
//
// It formats nothing, and estimates no error (confidence.hpp).
#pragma once

#include <cstdint>

#include "harness/stats/histogram.hpp"

namespace lockmark::stats {

// A number of nanoseconds or, if `censored`, only a lower bound: "> value_ns".
struct quantile_ns {
  std::int64_t value_ns = 0;
  bool censored = false;

  bool operator==(const quantile_ns&) const = default;
};

// A view of one series of attempts; `granted` must outlive it.
struct attempts {
  const histogram& granted;
  std::int64_t censored = 0;  // attempts without a grant, >= 0
  std::int64_t limit_ns = 0;  // T: the wait time-out, which a censored attempt exceeded

  std::int64_t count() const { return granted.count() + censored; }

  // What a censored quantile exceeds: T, or the latest grant where that took longer, as far as the
  // histogram tells them apart.
  std::int64_t latest_ns() const {
    const bool within = granted.lowest_equivalent(granted.max_ns()) <= limit_ns;
    return within ? limit_ns : granted.highest_equivalent(granted.max_ns());
  }

  // The rank-th smallest of all attempts, rank from 1; {0, false} if there are none. Never
  // decreases from one rank to the next.
  quantile_ns at_rank(std::int64_t rank) const {
    if (rank > granted.count() && censored > 0) return {latest_ns(), true};
    return {granted.value_at_rank(rank), false};
  }

  // HdrHistogram's convention: rank ceil(q * count). Censored exactly if the share of attempts
  // without a grant exceeds 1 - q.
  quantile_ns at_quantile(double q) const {
    return at_rank(histogram::rank_of_quantile(q, count()));
  }
};

}  // namespace lockmark::stats
