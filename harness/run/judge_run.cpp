#include "harness/run/judge_run.hpp"

#include <cmath>

#include "harness/run/conductor.hpp"

namespace lockmark::run {
namespace {

// The number of random arrivals in a window varies by its square root.
double chance_per_s(const config::job& job, double offered, double window_s) {
  if (job.loop == config::loop_kind::closed || job.loop == config::loop_kind::open) return 0;
  const bool sessions = job.loop == config::loop_kind::partly_open;
  const double each = sessions ? static_cast<double>(job.cycles) : 1;
  return window_s > 0 ? 3 * std::sqrt(offered * each / window_s) : 0;
}

}  // namespace

void judge_run(result& r, double cores) {
  self_measurement& m = r.self;
  m.closed_loop = !r.job.arrives_by_rate();
  m.reported_p99_ns = r.totals[series::response].value_at_quantile(0.99);
  m.timer_lag_p99_ns = r.totals[series::timer_lag].value_at_quantile(0.99);
  m.hiccup_p999_ns = r.hiccup.value_at_quantile(0.999);
  m.dropped = r.totals.counts[counter::dropped];
  m.clients_all_busy = !r.totals[series::queue_lag].empty();
  m.offered_per_s = offered_per_s(r.job) * (1 - r.absent_share);
  if (r.window_ns > 0) m.achieved_per_s = static_cast<double>(r.attempts()) / r.window_s();
  m.chance_per_s = chance_per_s(r.job, m.offered_per_s, r.window_s());
  m.busiest_worker = r.busiest_worker;
  m.process_cpu = r.harness_cpu / cores;
  if (r.floor) m.floor_rate_per_s = r.floor->cycles_per_s;
  r.verdict = judge(m);
}

}  // namespace lockmark::run
