#include "program/capacity_runs.hpp"

#include <fmt/core.h>

#include <array>
#include <chrono>

#include "harness/run/worker.hpp"
#include "program/progress.hpp"

namespace lockmark::cli {
namespace {

capacity::stretches stretches_of(const run::result& r, std::int64_t late_after_ns) {
  const std::chrono::duration<double> interval = run::interval_length;
  capacity::stretches all{{},
                          interval.count() * static_cast<double>(r.bootstrap.intervals_per_row())};
  for (const auto& sum : r.bootstrap.row_sums(late_after_ns, r.job.wait.count())) {
    all.parts.push_back({sum.attempts, sum.late, sum.sum_ns / 1e9 / all.part_s});
  }
  return all;
}

// The objectives' quantiles first, then those of a plan.
std::vector<double> quantiles_for(const std::vector<capacity::objective>& objectives) {
  std::vector<double> all;
  for (const capacity::objective& o : objectives) all.push_back(o.quantile);
  for (const double q : {0.99, 0.999}) all.push_back(q);
  return all;
}

}  // namespace

capacity::observation observe(const run::result& r, const std::string& folder,
                              const std::vector<capacity::objective>& objectives) {
  capacity::observation o;
  o.run = folder;
  o.workers = r.workers;
  o.warmup_s = r.warmup_s;
  o.granted_per_s = r.tps();
  o.granted_share = r.success_rate();
  o.dropped = r.totals.counts[run::counter::dropped];
  o.clients_all_busy = r.self.clients_all_busy && r.job.arrives_by_rate();
  for (const capacity::objective& goal : objectives) {
    o.against.push_back(stretches_of(r, goal.limit_ns));
  }
  o.quantiles =
      stats::estimate_quantiles(r.responses(), r.bootstrap, quantiles_for(objectives), r.job.seed);
  o.hold = r.totals[run::series::hold];
  o.release = r.totals[run::series::release];
  o.renewal = r.totals[run::series::renewal];
  o.loop_lag = r.totals[run::series::loop_lag];
  o.transfer = r.found.transfer;
  o.self_reacquire = r.found.self_reacquire;
  const auto commands = r.server.find("commands");
  o.counted_by_server = commands != r.server.end();
  const std::uint64_t sent = o.counted_by_server ? commands->second : r.sent.commands;
  if (r.grants_in_all > 0) {
    o.commands_per_grant = static_cast<double>(sent) / static_cast<double>(r.grants_in_all);
  }
  o.valid = r.verdict.valid;
  o.worth_repeating = !o.valid && !r.self.debug_build;
  o.reasons = texts_of(r.verdict.reasons);
  return o;
}

capacity::observation capacity_runs::make(const config::job& job, const std::string& title) {
  progress_display display(title, quiet_);
  run_request e{job, scenario_, out_, context_.arguments, {}, {}};
  e.from = from_;
  e.on_progress = [&display](const run::progress& p) { display.show(p); };
  const executed done = execute(context_.known, where_, std::move(e));
  display.clear();
  if (interrupts() > 0) throw study_ended("interrupted", 3);
  const std::string& name = done.written.name;
  if (done.result.violations() > 0) {
    throw study_ended(fmt::format("run {}: the lock failed {} times to be one; it has no capacity",
                                  name, done.result.violations()),
                      1);
  }
  if (done.result.how != run::ending::complete) {
    throw study_ended(fmt::format("run {}: {}", name, done.result.why), 2);
  }
  auto seen = observe(done.result, name, objectives_);
  if (quiet_) return seen;
  const auto& q = seen.quantiles.front();
  fmt::print(stderr, "{}: {:.4g}/s granted{}{}\n", title, seen.granted_per_s,
             q.supported ? fmt::format(", {} {}{:.3g} ms", capacity::quantile_name(q.q),
                                       q.value.censored ? "> " : "",
                                       static_cast<double>(q.value.value_ns) / 1e6)
                         : "",
             seen.valid ? "" : ", INVALID: " + seen.reasons.front());
  return seen;
}

}  // namespace lockmark::cli
