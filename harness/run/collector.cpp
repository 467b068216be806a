#include "harness/run/collector.hpp"

#include <algorithm>

namespace lockmark::run {
namespace {

// Shorter intervals, at the edges of the window, count in the totals but are not points of a
// series.
constexpr double least_point_s = 0.25;
constexpr std::int64_t same_moment_ns = interval_length.count() / 2;
// Intervals of one worker that wait for another worker's.
constexpr std::size_t most_waiting = 4;

std::vector<check::journal*> journals_of(const std::vector<pool_member*>& workers) {
  std::vector<check::journal*> all;
  for (pool_member* w : workers) all.push_back(&w->journal());
  return all;
}

}  // namespace

collector::collector(worker_pool& workers, const history_checker::shape& shape, const window& w,
                     interval_sink sink, event_sink events)
    : pool_(workers),
      workers_(workers.members()),
      window_(w),
      wait_(shape.wait_ns),
      sink_(std::move(sink)),
      events_(std::move(events)),
      checker_(shape, w),
      merger_(journals_of(workers_)),
      waiting_(workers_.size()) {}

void collector::collect() {
  pool_.fetch();
  if (events_) {
    merger_.drain([this](const check::event& e) {
      events_(e);
      checker_.see(e);
    });
  } else {
    merger_.drain([this](const check::event& e) { checker_.see(e); });
  }
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    for (auto& full : workers_[i]->recorder().take()) waiting_[i].push_back(std::move(full));
  }
  merge_whole_intervals();
}

void collector::merge_whole_intervals() {
  for (std::int64_t end_ns = next_end_ns(); end_ns != window::never; end_ns = next_end_ns()) {
    merge_until(end_ns);
  }
}

// The end of the next interval that all workers have measured; never: not yet. Dead workers are not
// waited for, and stalled ones not for long.
std::int64_t collector::next_end_ns() const {
  std::int64_t earliest_ns = window::never;
  std::size_t most = 0;
  bool missing = false;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    most = std::max(most, waiting_[i].size());
    missing = missing || (waiting_[i].empty() && !workers_[i]->gone());
    for (const auto& one : waiting_[i]) {
      if (one->end_ns <= merged_until_ns_) continue;
      earliest_ns = std::min(earliest_ns, one->end_ns);
      break;
    }
  }
  return missing && most <= most_waiting ? window::never : earliest_ns;
}

// Workers end their intervals at about the same moments. A worker that was stalled has a long one,
// which counts where it ends; if it is too late for that, in the next.
void collector::merge_until(std::int64_t end_ns) {
  std::unique_ptr<interval> merged;
  run::recorder* lender = nullptr;
  std::int64_t start_ns = merged_until_ns_;
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    for (bool late = true; late && !waiting_[i].empty();) {
      const interval& front = *waiting_[i].front();
      late = front.end_ns <= merged_until_ns_;
      if (front.end_ns > end_ns + same_moment_ns) break;
      if (front.end_ns == end_ns && front.start_ns + same_moment_ns > merged_until_ns_) {
        start_ns = front.start_ns;
      }
      std::unique_ptr<interval> next = std::move(waiting_[i].front());
      waiting_[i].pop_front();
      if (merged == nullptr) {
        merged = std::move(next);
        lender = &workers_[i]->recorder();
      } else {
        merged->merge(*next);
        workers_[i]->recorder().give_back(std::move(next));
      }
    }
  }
  merged->start_ns = start_ns;
  merged->end_ns = merged_until_ns_ = end_ns;
  take(*merged);
  lender->give_back(std::move(merged));
}

void collector::take(const interval& whole) {
  totals_.merge(whole);
  const std::int64_t start_ns = window_.start_ns.load();
  if (whole.end_ns <= start_ns) return;
  const std::int64_t at_ns = std::max<std::int64_t>(0, whole.start_ns - start_ns);
  if (sink_) sink_(whole, at_ns);
  const double length_s = static_cast<double>(whole.end_ns - whole.start_ns) / 1e9;
  const bool inside = whole.start_ns >= start_ns && whole.start_ns < window_.end_ns.load();
  if (inside && length_s >= least_point_s) add_point(whole, static_cast<double>(at_ns) / 1e9);
}

void collector::add_point(const interval& whole, double at_s) {
  const stats::attempts responses = whole.all_attempts(series::response, wait_);
  timeline_point p;
  p.at_s = at_s;
  p.length_s = static_cast<double>(whole.end_ns - whole.start_ns) / 1e9;
  p.attempts = whole.counts.attempts();
  p.granted = whole.counts[counter::granted];
  p.not_granted = whole.counts.not_granted();
  p.response_p50 = responses.at_quantile(0.5);
  p.response_p99 = responses.at_quantile(0.99);
  p.timer_lag_p99_ns = whole[series::timer_lag].value_at_quantile(0.99);
  timeline_.push_back(p);
  bootstrap_.add(responses.granted, responses.censored);
}

void collector::sample_in_flight() {
  in_flight_samples_.push_back(static_cast<double>(sum(&gauges::in_flight)));
}

std::int64_t collector::sum(std::atomic<std::int64_t> gauges::*which) const {
  std::int64_t total = 0;
  for (const pool_member* w : workers_)
    total += (w->gauges().*which).load(std::memory_order_relaxed);
  return total;
}

std::int64_t collector::latest(std::atomic<std::int64_t> gauges::*which) const {
  std::int64_t last = 0;
  for (const pool_member* w : workers_) {
    last = std::max(last, (w->gauges().*which).load(std::memory_order_relaxed));
  }
  return last;
}

void collector::finish(std::int64_t end_ns) {
  collect();
  // Workers stopped at different moments may have one interval more than others.
  for (auto& queue : waiting_) {
    for (; !queue.empty(); queue.pop_front()) take(*queue.front());
  }
  checker_.finish(end_ns);
}

void collector::fill(result& into) const {
  into.totals = totals_;
  into.timeline = timeline_;
  into.bootstrap = bootstrap_;
  into.found = checker_.result();
}

}  // namespace lockmark::run
