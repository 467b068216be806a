// Collects the measurements of a run's workers while it goes on: intervals, events, gauges.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "harness/check/merge.hpp"
#include "harness/run/history_checker.hpp"
#include "harness/run/result.hpp"
#include "harness/run/worker_pool.hpp"

namespace lockmark::run {

class collector {
 public:
  using interval_sink = std::function<void(const interval&, std::int64_t at_ns)>;
  using event_sink = std::function<void(const check::event&)>;

  // The pool and the window must outlive this.
  // `shape` says also how long an attempt may wait.
  collector(worker_pool& workers, const history_checker::shape& shape, const window& w,
            interval_sink sink, event_sink events = {});

  // Reads the events and intervals handed over so far.
  void collect();
  // Adds a sample of the clients in flight. Independent of all stamps (Little's law).
  void sample_in_flight();

  // REQUIRES: the workers are quiet. Reads the rest; `end_ns`: the end of the run.
  void finish(std::int64_t end_ns);

  std::int64_t sum(std::atomic<std::int64_t> gauges::*which) const;
  std::int64_t latest(std::atomic<std::int64_t> gauges::*which) const;
  const std::vector<double>& in_flight_samples() const { return in_flight_samples_; }
  history_checker& history() { return checker_; }
  // Of the whole intervals so far, including those before the window; their counts are only those
  // of the window.
  const interval& totals() const { return totals_; }
  // The latest interval of the window; null before the first one.
  const timeline_point* last_point() const {
    return timeline_.empty() ? nullptr : &timeline_.back();
  }

  // Adds what has been collected to the result.
  void fill(result& into) const;

 private:
  void merge_whole_intervals();
  std::int64_t next_end_ns() const;
  void merge_until(std::int64_t end_ns);
  void take(const interval& whole);
  void add_point(const interval& whole, double at_s);

  worker_pool& pool_;
  const std::vector<pool_member*> workers_;
  const window& window_;
  const std::chrono::nanoseconds wait_;
  interval_sink sink_;
  event_sink events_;
  history_checker checker_;
  check::merger merger_;
  std::vector<std::deque<std::unique_ptr<interval>>> waiting_;
  std::int64_t merged_until_ns_ = 0;
  interval totals_;
  std::vector<timeline_point> timeline_;
  stats::interval_bootstrap bootstrap_;
  std::vector<double> in_flight_samples_;
};

}  // namespace lockmark::run
