#include "harness/run/conductor.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "harness/faults/arena.hpp"
#include "harness/faults/schedule.hpp"
#include "harness/run/gathering.hpp"
#include "harness/run/guarding.hpp"
#include "harness/run/judge_run.hpp"
#include "harness/run/participants/process_crew.hpp"
#include "harness/run/thread_crew.hpp"
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
      : setup_(s),
        job_(s.job),
        loop_(l),
        crew_(workers),
        window_(w),
        faults_(l, config::read_faults(s.job.faults), s.arena) {
    const std::size_t clients = job_.clients_in_all();
    analyst::shape shape;
    shape.keys = job_.keys.count(clients);
    shape.clients = clients;
    shape.competitors = job_.keys.kind == config::key_choice::shape::own ? 1 : clients;
    shape.lock_has = s.lock.has;
    shape.holders = s.holders;
    shape.keeps_grants = !job_.faults.empty();
    gathering_ = std::make_unique<gathering>(
        crew_, shape, window_,
        [this](const interval& i, std::int64_t at_ns) {
          if (setup_.on_interval) pass_on([&] { setup_.on_interval(i, at_ns); });
        },
        s.on_event
            ? event_sink([this](const check::event& e) { pass_on([&] { setup_.on_event(e); }); })
            : event_sink{});
    watch_ = std::make_unique<watch>(setup_, loop_, *gathering_, faults_);
  }

  task<void> conduct(result& r);

 private:
  using event_sink = gathering::event_sink;

  template <class Call>
  void pass_on(Call call);
  task<void> look_ahead(result& r);
  task<void> open();
  task<void> warm_up(result& r);
  task<void> measure(result& r);
  task<void> drain(result& r);
  task<void> count_on_server(result& r);
  task<void> ask_server(result& r, time_point deadline);
  task<void> close(const result& r);
  task<void> next_tick();
  void run_tick(phase now, time_point since);
  bool enough(time_point now) const;
  bool server_is_lost() const;
  std::string ways_lost() const;
  std::string own_trouble() const;
  bool must_end(result& r) const;
  void mark_faults(result& r) const;
  int interrupts() const { return setup_.interrupts ? setup_.interrupts->load() : 0; }
  double done_fraction(double elapsed_s) const;
  void draw_conclusions(result& r);

  const setup& setup_;
  const config::job& job_;
  loop& loop_;
  crew& crew_;
  window& window_;
  faults::schedule faults_;
  std::unique_ptr<gathering> gathering_;
  std::unique_ptr<watch> watch_;
  stats::random_source jitter_{0x6a09e667};
  bool crew_started_ = false;
  int ticks_ = 0;
  time_point tick_at_;
  time_point went_;
  std::string not_passed_on_;  // why; empty: everything was
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

// Whoever writes down what is measured may fail, on a full disk; the measuring does not.
template <class Call>
void conductor::pass_on(Call call) {
  if (!not_passed_on_.empty()) return;
  try {
    call();
  } catch (const std::exception& e) {
    not_passed_on_ = e.what();
  }
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
  while (interrupts() == 0 && !server_is_lost() && crew_.trouble().empty()) {
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
  const std::int64_t elsewhere_before_ns = crew_.cpu_elsewhere_ns();
  r.started_wall_ns = wall_time_ns();
  if (setup_.on_window) setup_.on_window(r);
  window_.start_ns.store(to_ns(start));
  watch_->begin_window(r);
  r.window_start_ns = to_ns(start);
  r.how = ending::complete;
  faults_.begin(start, start + job_.stop_at_most);
  while (!enough(loop_.now()) && !must_end(r) && crew_.trouble().empty()) {
    co_await next_tick();
    // A sample that comes late came when some thread had just let go of its core: not at random.
    if (loop_.now() - tick_at_ < punctual) gathering_->sample_in_flight();
    mark_faults(r);
    run_tick(phase::measuring, start);
  }
  const time_point end = loop_.now();
  faults_.stop();
  window_.end_ns.store(to_ns(end));
  crew_.stop();
  r.window_ns = (end - start).count();
  const host_sample host_after = sample_host();
  const auto length = static_cast<double>(r.window_ns);
  r.harness_cpu = static_cast<double>(host_after.process_cpu_ns - host_before.process_cpu_ns +
                                      crew_.cpu_elsewhere_ns() - elsewhere_before_ns) /
                  length;
  r.busiest_worker =
      static_cast<double>(gathering_->latest(&gauges::busy_ns) - busy_before) / length;
  r.self.steal = steal_share(host_before, host_after);
  r.self.times_throttled =
      host_after.times_throttled.value_or(0) - host_before.times_throttled.value_or(0);
}

// Whether something ends the measurement before it is complete; the result says what.
bool conductor::must_end(result& r) const {
  if (interrupts() > 0) {
    r.how = ending::interrupted;
    r.why = "interrupted before the measurement was complete";
  } else if (!own_trouble().empty()) {
    r.how = ending::failed;
    r.why = own_trouble();
  } else if (!faults_.failure().empty()) {
    r.how = ending::failed;
    r.why = faults_.failure();
  } else if (server_is_lost()) {
    r.how = ending::server_lost;
    r.why = fmt::format("no server at {} answered for {}", setup_.target,
                        config::print_duration(job_.give_up_after));
  }
  return r.how != ending::complete;
}

std::string conductor::ways_lost() const {
  return setup_.arena == nullptr ? std::string() : setup_.arena->trouble();
}

// What went wrong with lockmark itself.
std::string conductor::own_trouble() const {
  return not_passed_on_.empty() ? ways_lost() : not_passed_on_;
}

// A silence that the job itself brings about is what it wants to see, and so is the time after it
// that the clients need to come back.
bool conductor::server_is_lost() const {
  if (watch_->server_silent() <= job_.give_up_after) return false;
  const time_point disturbed = faults_.last_active();
  return disturbed == time_point::min() || loop_.now() - disturbed > job_.give_up_after;
}

// What was done to the run on purpose. The mark of what is on still reaches a little into the
// future, so that whoever looks at it next finds it on.
void conductor::mark_faults(result& r) const {
  const auto seconds = [](duration d) { return std::chrono::duration<double>(d).count(); };
  r.marks.clear();
  for (const faults::infliction& f : faults_.all()) {
    const duration lasted = f.over ? f.lasted : loop_.now() - f.began + 2s;
    r.marks.push_back(
        {seconds(f.began - from_ns(r.window_start_ns)), seconds(lasted), f.kind, f.text});
  }
  std::ranges::sort(r.marks, {}, &mark::at_s);
}

bool conductor::enough(time_point now) const {
  if (setup_.seen_enough != nullptr && setup_.seen_enough->load()) return true;
  const duration elapsed = now - from_ns(window_.start_ns.load());
  if (elapsed >= job_.stop_at_most) return true;
  const auto counted = static_cast<std::uint64_t>(gathering_->sum(&gauges::counted));
  return elapsed >= job_.stop_duration && counted >= job_.stop_samples &&
         gathering_->history().transfers_so_far() >= job_.stop_owner_changes;
}

// Lets what is in flight end by itself, then cuts holds short. Every call of a driver has a
// deadline, so this ends.
task<void> conductor::drain(result& r) {
  const time_point since = loop_.now();
  const duration patience = job_.wait + job_.command_timeout;
  bool hurried = false;
  while (!crew_.all_quiet() || !faults_.over()) {
    co_await next_tick();
    mark_faults(r);
    run_tick(phase::draining, since);
    const duration waited = loop_.now() - since;
    if (!hurried && (waited > patience || interrupts() > 1)) {
      crew_.hurry();
      hurried = true;
    }
    if (!crew_.all_quiet() && waited > 3 * patience + stuck_after) {
      setup_.on_stuck(
          fmt::format("a client of {} did not end within {} of its deadline; "
                      "this is a defect of its driver",
                      setup_.lock.name, config::print_duration(stuck_after)));
    }
  }
  co_await watch_->end();
  gathering_->finish(to_ns(loop_.now()));
}

// After the last client and before the sessions close, so that exactly the load is in it. A server
// that has gone by now takes its own counts with it, and nothing of what the clients saw.
task<void> conductor::count_on_server(result& r) {
  for (const crew_member* w : crew_.members()) r.sent += w->sent();
  r.grants_in_all = static_cast<std::uint64_t>(gathering_->sum(&gauges::granted));
  if (r.how == ending::server_lost || !ways_lost().empty()) co_return;
  try {
    co_await ask_server(r, loop_.now() + cleaning_within);
  } catch (const no_server& gone) {
    if (r.how != ending::complete) co_return;
    r.how = ending::server_lost;
    r.why = fmt::format("after the load, {}", gone.what());
  }
}

task<void> conductor::ask_server(result& r, time_point deadline) {
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
  co_await faults_.join();
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
    const bool is_lost = r.how == ending::server_lost || !ways_lost().empty();
    const duration within = is_lost ? job_.command_timeout : cleaning_within;
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
  const double by_changes = share(static_cast<double>(gathering_->history().transfers_so_far()),
                                  static_cast<double>(job_.stop_owner_changes));
  const double by_cap = share(elapsed_s, std::chrono::duration<double>(job_.stop_at_most).count());
  return std::min(1.0, std::max(by_cap, std::min({by_time, by_samples, by_changes})));
}

void note_end_of_faults(result& r, const faults::schedule& planned) {
  for (const std::string& sentence : planned.missed()) r.preflight.push_back(sentence);
  if (r.how == ending::complete && !planned.failure().empty()) {
    r.how = ending::failed;
    r.why = planned.failure();
  }
}

// What the lock was really told.
config::job with_presets(config::job j, const lock_kind& lock) {
  for (const lock_option& o : lock.options) {
    j.options.emplace(std::string{o.name}, std::string{o.preset});
  }
  return j;
}

void conductor::draw_conclusions(result& r) {
  mark_faults(r);
  note_end_of_faults(r, faults_);
  gathering_->fill(r);
  if (r.how == ending::complete && !own_trouble().empty()) {
    r.how = ending::failed;
    r.why = own_trouble();
  }
  r.faults = judge_faults(faults_.all(), r.found, with_presets(job_, setup_.lock), setup_.lock.has,
                          setup_.lock.name.substr(0, setup_.lock.name.find('/')), window_);
  if (crew_.guard() != nullptr) r.found.guard = crew_.guard()->counts();
  crew_.tell(r);
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
              const window& measured, check::guard* guard) {
  const bool notes_answers = static_cast<bool>(s.on_event);
  return {s.job, keys, what, s.behind, s.lock.has, measured, s.run_id, notes_answers, guard};
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

result run_job(const setup& s, const real_clock& clock) {
  check_fit(s.job, s.lock, s.workload);
  const auto what = s.workload.make();
  const config::key_sampler keys(s.job.keys, s.job.clients_in_all());
  window own_window;
  own_guard guard(s.job, s.lock, s.holders);
  const cast roles = cast_for(s, keys, *what, own_window, guard.get());
  result r = blank_result(s);
  r.host = describe_host();
  loop l{clock};
  std::optional<thread_crew> own;
  if (s.participants == nullptr) own.emplace(clock, roles, workers_for(s.job));
  crew& workers = own ? static_cast<crew&>(*own) : *s.participants;
  window& measured = own ? own_window : s.participants->measured();
  r.workers = static_cast<std::uint32_t>(workers.members().size());
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
  own_guard guard(s.job, s.lock, s.holders);
  const cast roles = cast_for(s, keys, *what, measured, guard.get());
  result r = blank_result(s);
  loop l{clock};
  thread_crew workers(l, roles);
  conductor baton(s, l, workers, measured);
  run_to_end(l, baton.conduct(r));
  r.harness_cpu = r.busiest_worker = 0;
  r.self.steal = 0;
  r.self.times_throttled = 0;
  judge_run(r, 1);
  return r;
}

}  // namespace lockmark::run
