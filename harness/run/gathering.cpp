#include "harness/run/gathering.hpp"

#include <algorithm>

namespace lockmark::run {
namespace {

// Shorter stretches, at the edges of the window, count in the totals but are no point of a series.
constexpr double least_point_s = 0.25;

std::vector<check::journal*> journals_of(const std::vector<worker*>& workers) {
  std::vector<check::journal*> all;
  for (worker* w : workers) all.push_back(&w->journal());
  return all;
}

}  // namespace

gathering::gathering(std::vector<worker*> workers, const analyst::shape& shape, const window& w,
                     interval_sink sink, event_sink events)
    : workers_(std::move(workers)),
      window_(w),
      sink_(std::move(sink)),
      events_(std::move(events)),
      analyst_(shape, w),
      merger_(journals_of(workers_)),
      waiting_(workers_.size()) {}

void gathering::collect() {
  if (events_) {
    merger_.drain([this](const check::event& e) {
      events_(e);
      analyst_.see(e);
    });
  } else {
    merger_.drain([this](const check::event& e) { analyst_.see(e); });
  }
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    for (auto& full : workers_[i]->recorder().take()) waiting_[i].push_back(std::move(full));
  }
  merge_whole_intervals();
}

// The k-th intervals of all workers cover the same stretch of time.
void gathering::merge_whole_intervals() {
  const auto has_one = [](const auto& queue) { return !queue.empty(); };
  while (std::all_of(waiting_.begin(), waiting_.end(), has_one)) {
    std::unique_ptr<interval> merged = std::move(waiting_[0].front());
    waiting_[0].pop_front();
    for (std::size_t i = 1; i < waiting_.size(); ++i) {
      std::unique_ptr<interval> other = std::move(waiting_[i].front());
      waiting_[i].pop_front();
      merged->merge(*other);
      workers_[i]->recorder().give_back(std::move(other));
    }
    take(*merged);
    workers_[0]->recorder().give_back(std::move(merged));
  }
}

void gathering::take(const interval& whole) {
  totals_.merge(whole);
  const std::int64_t start_ns = window_.start_ns.load();
  if (whole.end_ns <= start_ns) return;
  const std::int64_t at_ns = std::max<std::int64_t>(0, whole.start_ns - start_ns);
  if (sink_) sink_(whole, at_ns);
  const double length_s = static_cast<double>(whole.end_ns - whole.start_ns) / 1e9;
  const bool inside = whole.start_ns >= start_ns && whole.start_ns < window_.end_ns.load();
  if (inside && length_s >= least_point_s) add_point(whole, static_cast<double>(at_ns) / 1e9);
}

void gathering::add_point(const interval& whole, double at_s) {
  const stats::histogram& response = whole[series::response];
  timeline_point p;
  p.at_s = at_s;
  p.length_s = static_cast<double>(whole.end_ns - whole.start_ns) / 1e9;
  p.attempts = whole.counts.attempts();
  p.granted = whole.counts[counter::granted];
  p.not_granted = whole.counts.not_granted();
  p.response_p50_ns = response.value_at_quantile(0.5);
  p.response_p99_ns = response.value_at_quantile(0.99);
  p.timer_lag_p99_ns = whole[series::timer_lag].value_at_quantile(0.99);
  timeline_.push_back(p);
  bootstrap_.add(response, static_cast<std::int64_t>(p.not_granted));
}

void gathering::sample_in_flight() {
  in_flight_samples_.push_back(static_cast<double>(sum(&gauges::in_flight)));
}

std::int64_t gathering::sum(std::atomic<std::int64_t> gauges::*which) const {
  std::int64_t total = 0;
  for (worker* w : workers_) total += (w->gauges().*which).load(std::memory_order_relaxed);
  return total;
}

std::int64_t gathering::latest(std::atomic<std::int64_t> gauges::*which) const {
  std::int64_t last = 0;
  for (worker* w : workers_) {
    last = std::max(last, (w->gauges().*which).load(std::memory_order_relaxed));
  }
  return last;
}

void gathering::finish(std::int64_t end_ns) {
  collect();
  // Workers that were stopped at different moments may have ended one interval more than others.
  for (auto& queue : waiting_) {
    for (; !queue.empty(); queue.pop_front()) take(*queue.front());
  }
  analyst_.finish(end_ns);
}

std::vector<double> gathering::p50_series() const {
  std::vector<double> all;
  for (const timeline_point& p : timeline_) all.push_back(static_cast<double>(p.response_p50_ns));
  return all;
}

void gathering::fill(result& into) const {
  into.totals = totals_;
  into.timeline = timeline_;
  into.bootstrap = bootstrap_;
  into.found = analyst_.result();
}

}  // namespace lockmark::run
