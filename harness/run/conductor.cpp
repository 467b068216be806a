#include "harness/run/conductor.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "harness/run/gathering.hpp"
#include "harness/run/watch.hpp"
#include "harness/stats/littles_law.hpp"
#include "harness/stats/random.hpp"
#include "harness/stats/stationarity.hpp"

namespace lockmark::run {
namespace {

using namespace std::chrono_literals;

constexpr duration tick_length = 10ms;
constexpr duration punctual = 500us;
constexpr duration first_contact_within = 5s;
constexpr duration cleaning_within = 10s;
constexpr int ticks_per_collection = 4;
constexpr int ticks_per_progress = 20;
constexpr int ticks_per_warmup_sample = 10;
// Warm-up that does not settle is cut off here, in multiples of what was asked for.
constexpr int longest_warmup = 3;
// A client that is still not done so long after every deadline is a defect of a driver.
constexpr duration stuck_after = 20s;

class conductor {
 public:
  conductor(const setup& s, loop& l, crew& workers, window& w)
      : setup_(s), job_(s.job), loop_(l), crew_(workers), window_(w) {
    const std::size_t clients = job_.clients_in_all();
    analyst::shape shape;
    shape.keys = job_.keys.count(clients);
    shape.clients = clients;
    shape.competitors = job_.keys.kind == config::key_choice::shape::own ? 1 : clients;
    shape.lock_has = s.lock.has;
    shape.holders = s.holders;
    gathering_ = std::make_unique<gathering>(
        crew_.workers(), shape, window_,
        [this](const interval& i, std::int64_t at_ns) {
          if (setup_.on_interval) setup_.on_interval(i, at_ns);
        },
        s.on_event);
    watch_ = std::make_unique<watch>(setup_, loop_, *gathering_);
  }

  task<void> conduct(result& r);

 private:
  task<void> look_ahead(result& r);
  task<void> open();
  task<void> warm_up(result& r);
  task<void> measure(result& r);
  task<void> drain(result& r);
  task<void> count_on_server(result& r);
  task<void> close(const result& r);
  task<void> next_tick();
  void run_tick(phase now, time_point since);
  bool enough(time_point now) const;
  bool server_is_lost() const { return watch_->server_silent() > job_.give_up_after; }
  int interrupts() const { return setup_.interrupts ? setup_.interrupts->load() : 0; }
  double done_fraction(double elapsed_s) const;
  void draw_conclusions(result& r);

  const setup& setup_;
  const config::job& job_;
  loop& loop_;
  crew& crew_;
  window& window_;
  std::unique_ptr<gathering> gathering_;
  std::unique_ptr<watch> watch_;
  stats::random_source jitter_{0x6a09e667};
  bool crew_started_ = false;
  int ticks_ = 0;
  time_point tick_at_;
  time_point went_;
  server_counters server_before_;
};

task<void> conductor::conduct(result& r) {
  std::exception_ptr failure;
  bool started = false;
  try {
    r.server_is = co_await setup_.behind.prepare(loop_, loop_.now() + first_contact_within);
    started = true;
    co_await look_ahead(r);
    co_await open();
    co_await warm_up(r);
    co_await measure(r);
    co_await drain(r);
    co_await count_on_server(r);
    draw_conclusions(r);
  } catch (...) {
    failure = std::current_exception();
  }
  if (started) co_await close(r);
  if (failure) std::rethrow_exception(failure);
}

// What would make the run pointless ends it here, before its load does harm.
task<void> conductor::look_ahead(result& r) {
  demand d;
  d.instances = static_cast<std::uint32_t>(job_.instances);
  d.clients = static_cast<std::uint32_t>(job_.clients);
  d.lease = job_.lease;
  d.session_timeout = job_.session_timeout;
  const auto found = co_await setup_.behind.preflight(loop_, d, loop_.now() + first_contact_within);
  for (const finding& f : found) {
    if (f.fatal) throw usage_error(f.sentence);
    r.preflight.push_back(f.sentence);
    if (setup_.on_finding) setup_.on_finding(f.sentence);
  }
}

task<void> conductor::open() {
  crew_started_ = true;
  crew_.start(loop_.now() + first_contact_within);
  tick_at_ = loop_.now();
  const time_point since = tick_at_;
  while (!crew_.all_ready()) {
    co_await next_tick();
    run_tick(phase::opening, since);
  }
  server_before_ = co_await setup_.behind.counters(loop_, loop_.now() + first_contact_within);
}

void conductor::run_tick(phase now, time_point since) {
  ++ticks_;
  if (ticks_ % ticks_per_collection == 0) gathering_->collect();
  if (ticks_ % ticks_per_progress != 0) return;
  const double elapsed_s = std::chrono::duration<double>(loop_.now() - since).count();
  watch_->look(now, elapsed_s, now == phase::measuring ? done_fraction(elapsed_s) : 0);
}

// Ticks come at random distances: arrivals at a constant rate would otherwise always be sampled at
// the same moment of their lives.
task<void> conductor::next_tick() {
  const duration random{static_cast<std::int64_t>(jitter_.below(tick_length.count()))};
  tick_at_ = std::max(tick_at_ + tick_length / 2 + random, loop_.now());
  co_await loop_.sleep_until(tick_at_);
}

// At least as long as asked for, and then until the throughput has settled.
task<void> conductor::warm_up(result& r) {
  went_ = loop_.now();
  watch_->begin(went_, server_before_);
  crew_.go(went_);
  std::vector<double> rates;
  std::int64_t before = 0;
  while (interrupts() == 0 && !server_is_lost()) {
    const duration elapsed = loop_.now() - went_;
    const bool settled = stats::warmup_ended(rates);
    if (elapsed >= job_.warmup && (settled || elapsed >= longest_warmup * job_.warmup)) break;
    co_await next_tick();
    run_tick(phase::warming_up, went_);
    if (ticks_ % ticks_per_warmup_sample != 0) continue;
    const std::int64_t granted = gathering_->sum(&gauges::granted);
    rates.push_back(static_cast<double>(granted - before));
    before = granted;
  }
  r.warmup_s = std::chrono::duration<double>(loop_.now() - went_).count();
}

task<void> conductor::measure(result& r) {
  const time_point start = loop_.now();
  const host_sample host_before = sample_host();
  const std::int64_t busy_before = gathering_->latest(&gauges::busy_ns);
  r.started_wall_ns = wall_time_ns();
  if (setup_.on_window) setup_.on_window(r);
  window_.start_ns.store(to_ns(start));
  watch_->begin_window(r);
  r.window_start_ns = to_ns(start);
  r.how = ending::complete;
  while (!enough(loop_.now())) {
    co_await next_tick();
    // A sample that comes late came when some thread had just let go of its core: not at random.
    if (loop_.now() - tick_at_ < punctual) gathering_->sample_in_flight();
    run_tick(phase::measuring, start);
    if (interrupts() > 0) {
      r.how = ending::interrupted;
      r.why = "interrupted before the measurement was complete";
      break;
    }
    if (server_is_lost()) {
      r.how = ending::server_lost;
      r.why = fmt::format("no server at {} answered for {}", setup_.target,
                          config::print_duration(job_.give_up_after));
      break;
    }
  }
  const time_point end = loop_.now();
  window_.end_ns.store(to_ns(end));
  crew_.stop();
  r.window_ns = (end - start).count();
  const host_sample host_after = sample_host();
  const auto length = static_cast<double>(r.window_ns);
  r.harness_cpu =
      static_cast<double>(host_after.process_cpu_ns - host_before.process_cpu_ns) / length;
  r.busiest_worker =
      static_cast<double>(gathering_->latest(&gauges::busy_ns) - busy_before) / length;
  r.self.steal = steal_share(host_before, host_after);
  r.self.times_throttled =
      host_after.times_throttled.value_or(0) - host_before.times_throttled.value_or(0);
}

bool conductor::enough(time_point now) const {
  const duration elapsed = now - from_ns(window_.start_ns.load());
  if (elapsed >= job_.stop_at_most) return true;
  const auto counted = static_cast<std::uint64_t>(gathering_->sum(&gauges::counted));
  return elapsed >= job_.stop_duration && counted >= job_.stop_samples;
}

// Lets what is in flight end by itself, then cuts holds short. Every call of a driver has a
// deadline, so this ends.
task<void> conductor::drain(result&) {
  const time_point since = loop_.now();
  const duration patience = job_.wait + job_.command_timeout;
  bool hurried = false;
  while (!crew_.all_quiet()) {
    co_await next_tick();
    run_tick(phase::draining, since);
    const duration waited = loop_.now() - since;
    if (!hurried && (waited > patience || interrupts() > 1)) {
      crew_.hurry();
      hurried = true;
    }
    if (waited > 3 * patience + stuck_after) {
      setup_.on_stuck(
          fmt::format("a client of {} did not end within {} of its deadline; "
                      "this is a defect of its driver",
                      setup_.lock.name, config::print_duration(stuck_after)));
    }
  }
  co_await watch_->end();
  gathering_->finish(to_ns(loop_.now()));
}

// After the last client and before the sessions close, so that exactly the load is in it.
task<void> conductor::count_on_server(result& r) {
  for (worker* w : crew_.workers()) r.sent += w->sent();
  r.grants_in_all = static_cast<std::uint64_t>(gathering_->sum(&gauges::granted));
  if (r.how == ending::server_lost) co_return;
  const time_point deadline = loop_.now() + cleaning_within;
  const server_counters after = co_await setup_.behind.counters(loop_, deadline);
  r.server = grown(server_before_, after);
  if (!setup_.lock.has.has(feature::optimistic)) co_return;
  const auto keys = static_cast<std::uint32_t>(job_.keys.count(job_.clients_in_all()));
  for (std::uint32_t key = 0; key < keys; ++key) {
    const std::uint64_t commits = co_await setup_.behind.commits(loop_, key, deadline);
    gathering_->history().updates().server_counted(key, commits);
  }
}

task<void> conductor::close(const result& r) {
  co_await watch_->end();
  watch_->look(phase::cleaning, 0, 0);
  if (crew_started_) {
    crew_.stop();
    crew_.hurry();
    crew_.close();
    co_await crew_.join(loop_);
  }
  try {
    // A server that is lost is asked once more, in case it is back, but not waited for.
    const duration within = r.how == ending::server_lost ? job_.command_timeout : cleaning_within;
    co_await setup_.behind.wipe(loop_, loop_.now() + within);
  } catch (const no_server&) {
    // Nothing can be removed from a server that is gone; the run's own ending says so.
  }
}

double conductor::done_fraction(double elapsed_s) const {
  const auto share = [](double part, double whole) { return whole > 0 ? part / whole : 1.0; };
  const auto counted = static_cast<double>(gathering_->sum(&gauges::counted));
  const double by_time =
      share(elapsed_s, std::chrono::duration<double>(job_.stop_duration).count());
  const double by_samples = share(counted, static_cast<double>(job_.stop_samples));
  const double by_cap = share(elapsed_s, std::chrono::duration<double>(job_.stop_at_most).count());
  return std::min(1.0, std::max(by_cap, std::min(by_time, by_samples)));
}

void conductor::draw_conclusions(result& r) {
  gathering_->fill(r);
  const stats::trend trend = stats::find_trend(
      gathering_->p50_series(), std::chrono::duration<double>(interval_length).count());
  r.steady.known = r.timeline.size() >= 4;
  r.steady.drifts = trend.non_stationary;
  r.steady.change_per_minute = trend.slope_percent_per_min / 100;
  const auto little =
      stats::check_littles_law(gathering_->in_flight_samples(), r.found.clients_in_flight);
  r.self.littles_law_fails = little.checked && little.failed;
  r.self.littles_law_difference = little.relative_difference;
}

cast cast_for(const setup& s, const config::key_sampler& keys, const workload& what,
              const window& measured) {
  return {s.job,      keys,     what,     s.behind,
          s.lock.has, measured, s.run_id, static_cast<bool>(s.on_event)};
}

void judge_run(result& r, double cores) {
  self_measurement& m = r.self;
  m.closed_loop = !r.job.arrives_by_rate();
  m.reported_p99_ns = r.totals[series::response].value_at_quantile(0.99);
  m.timer_lag_p99_ns = r.totals[series::timer_lag].value_at_quantile(0.99);
  m.hiccup_p999_ns = r.hiccup.value_at_quantile(0.999);
  m.dropped = r.totals.counts[counter::dropped];
  m.clients_all_busy = !r.totals[series::queue_lag].empty();
  m.offered_per_s = offered_per_s(r.job);
  if (r.window_ns > 0) m.achieved_per_s = static_cast<double>(r.attempts()) / r.window_s();
  m.busiest_worker = r.busiest_worker;
  m.process_cpu = r.harness_cpu / cores;
  if (r.floor) m.floor_rate_per_s = r.floor->cycles_per_s;
  r.verdict = judge(m);
}

}  // namespace

result blank_result(const setup& s) {
  result r;
  r.run_id = s.run_id;
  r.job = s.job;
  r.lock = s.lock.name;
  r.implementation = s.lock.algorithm;
  r.workload = s.workload.name;
  r.target = s.target;
  r.topology = s.topology;
  r.scenario = s.scenario;
  r.arguments = s.arguments;
  r.lock_has = s.lock.has;
  r.promises = s.lock.promises;
  r.holders = s.holders;
  r.floor = s.floor;
  return r;
}

double offered_per_s(const config::job& job) {
  if (!job.rate) return 0;
  const bool sessions = job.loop == config::loop_kind::partly_open;
  return job.rate->per_second() * (sessions ? static_cast<double>(job.cycles) : 1);
}

std::uint32_t workers_for(const config::job& job) {
  auto wanted = static_cast<std::uint32_t>(job.threads);
  if (wanted == 0) wanted = std::max(1U, static_cast<std::uint32_t>(usable_cores()) - 1);
  return std::min(wanted, static_cast<std::uint32_t>(job.instances));
}

void check_fit(const config::job& job, const lock_kind& lock, const workload_kind& workload) {
  const features missing = workload.needs.without(lock.has);
  if (!missing.empty()) {
    throw usage_error(fmt::format("workload {} needs what lock {} does not have: {}", workload.name,
                                  lock.name, to_string(missing)));
  }
  const features common = workload.opposes.without(workload.opposes.without(lock.has));
  if (!common.empty()) {
    throw usage_error(fmt::format("workload {} does not go with lock {}, which is {}",
                                  workload.name, lock.name, to_string(common)));
  }
  if (job.reentrancy > 1 && !lock.has.has(feature::reentrant)) {
    throw usage_error(fmt::format("reentrancy: {} needs a reentrant lock, and {} is none",
                                  job.reentrancy, lock.name));
  }
  if (job.renew && lock.has.has(feature::lease) && !lock.has.has(feature::renewable)) {
    throw usage_error(fmt::format("renew: lock {} has a lease that cannot be renewed", lock.name));
  }
}

result run_job(const setup& s, const real_clock& clock) {
  check_fit(s.job, s.lock, s.workload);
  const auto what = s.workload.make();
  const config::key_sampler keys(s.job.keys, s.job.clients_in_all());
  window measured;
  const cast roles = cast_for(s, keys, *what, measured);
  result r = blank_result(s);
  r.workers = workers_for(s.job);
  r.host = describe_host();
  loop l{clock};
  crew workers(clock, roles, r.workers);
  hiccup_meter meter(clock, measured);
  conductor baton(s, l, workers, measured);
  run_to_end(l, baton.conduct(r));
  meter.stop();
  r.hiccup = meter.overshoot();
#ifndef NDEBUG
  r.self.debug_build = true;
#endif
  judge_run(r, usable_cores());
  return r;
}

result run_job_simulated(const setup& s, simulated_clock& clock) {
  check_fit(s.job, s.lock, s.workload);
  const auto what = s.workload.make();
  const config::key_sampler keys(s.job.keys, s.job.clients_in_all());
  window measured;
  const cast roles = cast_for(s, keys, *what, measured);
  result r = blank_result(s);
  loop l{clock};
  crew workers(l, roles);
  conductor baton(s, l, workers, measured);
  run_to_end(l, baton.conduct(r));
  r.harness_cpu = r.busiest_worker = 0;
  r.self.steal = 0;
  r.self.times_throttled = 0;
  judge_run(r, 1);
  return r;
}

}  // namespace lockmark::run
