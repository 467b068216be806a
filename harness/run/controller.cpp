#include "harness/run/controller.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "harness/base/process.hpp"
#include "harness/faults/injector.hpp"
#include "harness/stats/stationarity.hpp"

namespace lockmark::run {
namespace {

using namespace std::chrono_literals;

constexpr duration tick_length = 10ms;
constexpr duration punctual = 500us;
// Including program start and farewell, a server that never completes an answer is refused within
// 5 s.
constexpr duration first_contact_within = 4s;
constexpr duration farewell_within = 500ms;
constexpr int ticks_per_collection = 4;
constexpr int ticks_per_progress = 20;
constexpr int ticks_per_warmup_sample = 10;
// Warm-up that does not settle is cut off here, as a multiple of the requested length.
constexpr int longest_warmup = 3;

}  // namespace

run_controller::run_controller(const setup& s, loop& l, worker_pool& workers, window& w,
                               stuck_handler on_stuck)
    : setup_(s),
      job_(s.job),
      loop_(l),
      pool_(workers),
      window_(w),
      on_stuck_(std::move(on_stuck)),
      calls_(l, std::string(s.lock.name), s.stuck_after),
      faults_(l, faults::read_faults(s.job.faults), s.injector) {
  collector::event_sink events;
  if (s.on_event) {
    events = [this](const check::event& e) { pass_on([&] { setup_.on_event(e); }); };
  }
  collector_ = std::make_unique<collector>(
      pool_, shape_of({s.lock, s.job, s.holders, workers.clocks()}), window_,
      [this](const interval& i, std::int64_t at_ns) {
        if (setup_.on_interval) pass_on([&] { setup_.on_interval(i, at_ns); });
      },
      std::move(events));
  watch_ = std::make_unique<watch>(setup_, loop_, *collector_, faults_, calls_);
}

task<void> run_controller::conduct(result& r) {
  std::exception_ptr failure;
  bool may_have_created = false;
  try {
    co_await begin(r);
    co_await warm_up(r);
    co_await measure(r);
  } catch (const std::exception& e) {
    failure = std::current_exception();
    may_have_created = dynamic_cast<const unanswered_change*>(&e) != nullptr;
    r.how = ending::failed;
    r.why = e.what();
  }
  if (load_began_) co_await drain(r);
  const bool has_window = window_.start_ns.load() != window::never;
  if (has_window) {
    co_await count_on_server(r);
    draw_conclusions(r);
  }
  co_await close(r, load_began_ || may_have_created
                        ? cleaning_within
                        : std::min(job_.command_timeout, farewell_within));
  co_await end_the_stuck(r);
  if (failure && !has_window) std::rethrow_exception(failure);
}

// Steps before the load. An exception here leaves nothing to report.
task<void> run_controller::begin(result& r) {
  const time_point by = loop_.now() + first_contact_within;
  r.server_is =
      co_await calls_.wait_for(setup_.behind.prepare(loop_, by), by + creating_within, "prepare");
  co_await look_ahead(r);
  if (setup_.measure_floor) r.floor = setup_.measure_floor();
  co_await open();
}

// Writing results can fail (a full disk); measuring goes on.
template <class Call>
void run_controller::pass_on(Call call) {
  if (!not_passed_on_.empty()) return;
  try {
    call();
  } catch (const std::exception& e) {
    not_passed_on_ = e.what();
  }
}

// Anything that would make the run pointless ends it here, before its load does harm.
task<void> run_controller::look_ahead(result& r) {
  demand d;
  d.instances = static_cast<std::uint32_t>(job_.instances);
  d.clients = static_cast<std::uint32_t>(job_.clients);
  d.lease = job_.lease;
  d.session_timeout = job_.session_timeout;
  const time_point by = loop_.now() + first_contact_within;
  auto found = co_await calls_.wait_for(setup_.behind.preflight(loop_, d, by), by, "preflight");
  if (setup_.injector != nullptr && setup_.injector->has_proxies()) {
    // The proxy process runs lockmark's own program, and inherits its limit.
    auto few = judge_proxies(setup_.behind.connections(d), descriptor_limit());
    if (few) found.push_back(std::move(*few));
  }
  for (const finding& f : found) {
    if (f.fatal) throw usage_error(f.sentence);
    r.preflight.push_back(f.sentence);
    if (setup_.on_finding) setup_.on_finding(f.sentence);
  }
}

task<void> run_controller::open() {
  pool_started_ = true;
  pool_ended_ = false;
  pool_.start();
  tick_at_ = loop_.now();
  const time_point since = tick_at_;
  awake_time without_login(since);
  for (std::int64_t connected = 0; !pool_.all_ready();) {
    if (const auto why = pool_.failure()) throw_with_count(why, loop_.now() - since);
    if (interrupts() > 0) co_return;  // a measurement without a window reports it
    const std::int64_t now_connected = collector_->sum(&gauges::connected);
    if (std::exchange(connected, now_connected) != now_connected) {
      without_login.restart(loop_.now());
    }
    if (without_login.passed(loop_.now()) > first_contact_within + calls_.patience()) {
      throw stuck_call(calls_.sentence("open"));
    }
    co_await next_tick();
    run_tick(phase::opening, since);
  }
  // Workers that failed are also ready: they have nothing left to open.
  if (const auto why = pool_.failure()) throw_with_count(why, loop_.now() - since);
  const time_point counted_by = loop_.now() + first_contact_within;
  server_before_ =
      co_await calls_.wait_for(setup_.behind.counters(loop_, counted_by), counted_by, "counters");
}

// Rethrows why a session could not open, with the number of clients connected by then.
void run_controller::throw_with_count(const std::exception_ptr& why, duration elapsed) const {
  const std::int64_t connected = collector_->sum(&gauges::connected);
  if (connected == 0) std::rethrow_exception(why);
  const auto so_far = [&](const std::exception& e) {
    return fmt::format("{}; {} of {} clients were connected after {:.1f} s", e.what(), connected,
                       job_.clients_in_all(), std::chrono::duration<double>(elapsed).count());
  };
  try {
    std::rethrow_exception(why);
  } catch (const no_server& e) {
    throw no_server(so_far(e));
  } catch (const usage_error& e) {
    throw usage_error(so_far(e));
  } catch (const std::exception& e) {
    throw std::runtime_error(so_far(e));
  }
}

void run_controller::run_tick(phase now, time_point since) {
  ++ticks_;
  if (ticks_ % ticks_per_collection == 0) collector_->collect();
  if (ticks_ % ticks_per_progress != 0) return;
  const double elapsed_s = std::chrono::duration<double>(loop_.now() - since).count();
  watch_->look(now, elapsed_s, now == phase::measuring ? done_fraction(elapsed_s) : 0);
}

// Ticks come at random intervals: otherwise arrivals at a constant rate would always be sampled at
// the same phase.
task<void> run_controller::next_tick() {
  const duration random{static_cast<std::int64_t>(jitter_.below(tick_length.count()))};
  tick_at_ = std::max(tick_at_ + tick_length / 2 + random, loop_.now());
  co_await loop_.sleep_until(tick_at_);
}

// At least as long as requested, and then until the throughput has settled.
task<void> run_controller::warm_up(result& r) {
  load_began_ = true;
  went_ = loop_.now() + pool_.notice();
  watch_->begin(went_, server_before_);
  pool_.go(went_);
  std::vector<double> rates;
  std::int64_t before = 0;
  while (interrupts() == 0 && !server_is_lost() && load_failure().empty()) {
    const duration elapsed = loop_.now() - went_;
    const bool settled = stats::warmup_ended(rates);
    if (elapsed >= job_.warmup && (settled || elapsed >= longest_warmup * job_.warmup)) break;
    co_await next_tick();
    run_tick(phase::warming_up, went_);
    if (ticks_ % ticks_per_warmup_sample != 0) continue;
    const std::int64_t granted = collector_->sum(&gauges::granted);
    rates.push_back(static_cast<double>(granted - before));
    before = granted;
  }
  r.warmup_s = std::chrono::duration<double>(loop_.now() - went_).count();
}

// A moment that was announced to members elsewhere.
task<void> run_controller::wait_until(time_point when, phase now, time_point since) {
  while (loop_.now() < when) {
    co_await next_tick();
    run_tick(now, since);
  }
}

task<void> run_controller::measure(result& r) {
  const time_point start = loop_.now() + pool_.notice();
  r.started_wall_ns = wall_time_ns() + pool_.notice().count();
  // Throws where the disk is full: nothing may be recorded as part of a window before this.
  if (setup_.on_window) setup_.on_window(r);
  window_.start_ns.store(to_ns(start));
  pool_.announce();
  co_await wait_until(start, phase::warming_up, went_);
  window_began_ = {collector_->latest(&gauges::busy_ns), pool_.cpu_elsewhere_ns(), proxies_cpu_ns(),
                   sample_host()};
  watch_->begin_window(r);
  r.window_start_ns = to_ns(start);
  r.how = ending::complete;
  faults_.begin(start, start + job_.stop_at_most);
  while (!enough(loop_.now() + pool_.notice()) && !must_end(r)) {
    co_await next_tick();
    // A late sample was taken just after some thread gave up its core: not at random.
    if (loop_.now() - tick_at_ < punctual) collector_->sample_in_flight();
    mark_faults(r);
    run_tick(phase::measuring, start);
  }
  co_await end_window(r);
}

std::int64_t run_controller::proxies_cpu_ns() const {
  return setup_.injector == nullptr ? 0 : setup_.injector->proxies_cpu_ns();
}

// Also called if no window ever began: ends the load too.
task<void> run_controller::end_window(result& r) {
  const time_point end = loop_.now() + pool_.notice();
  faults_.stop();
  window_.end_ns.store(to_ns(end));
  pool_.announce();
  co_await wait_until(end, phase::measuring, from_ns(r.window_start_ns));
  pool_.stop();
  r.window_ns = to_ns(end) - r.window_start_ns;
  const host_sample host_after = sample_host();
  const auto length = static_cast<double>(r.window_ns);
  const std::int64_t cpu_ns = host_after.process_cpu_ns - window_began_.host.process_cpu_ns +
                              pool_.cpu_elsewhere_ns() - window_began_.elsewhere_ns;
  r.harness_cpu = static_cast<double>(cpu_ns) / length;
  const std::int64_t busy_ns = collector_->latest(&gauges::busy_ns) - window_began_.busy_ns;
  r.busiest_worker = static_cast<double>(busy_ns) / length;
  r.self.busy_proxies = static_cast<double>(proxies_cpu_ns() - window_began_.proxies_ns) / length;
  r.self.steal = steal_share(window_began_.host, host_after);
  r.self.cpu_waiting = waiting_share(window_began_.host, host_after, r.window_ns);
  r.self.times_throttled =
      host_after.times_throttled.value_or(0) - window_began_.host.times_throttled.value_or(0);
}

// Whether something ends the measurement early; the result says what.
bool run_controller::must_end(result& r) const {
  if (interrupts() > 0) {
    r.end_as(ending::interrupted, "interrupted before the measurement was complete");
  }
  for (const std::string& why : {load_failure(), own_trouble(), faults_.failure()}) {
    if (!why.empty()) r.end_as(ending::failed, why);
  }
  if (server_is_lost()) {
    r.end_as(ending::server_lost, fmt::format("no server at {} answered for {}", setup_.target,
                                              config::print_duration(job_.give_up_after)));
  }
  return r.how != ending::complete;
}

std::string run_controller::ways_lost() const {
  return setup_.injector == nullptr ? std::string() : setup_.injector->trouble();
}

// Trouble of lockmark itself.
std::string run_controller::own_trouble() const {
  return not_passed_on_.empty() ? ways_lost() : not_passed_on_;
}

// Why the load cannot go on: a member's exception, or the fate of all members.
std::string run_controller::load_failure() const {
  const auto why = pool_.failure();
  if (!why) return pool_.trouble();
  try {
    std::rethrow_exception(why);
  } catch (const std::exception& e) {
    return e.what();
  }
}

// A silence caused by the job itself is intended, and so is the time that the clients then need to
// recover.
bool run_controller::server_is_lost() const {
  if (watch_->server_silent() <= job_.give_up_after) return false;
  const time_point disturbed = faults_.last_active();
  return disturbed == time_point::min() || loop_.now() - disturbed > job_.give_up_after;
}

// Deliberate disturbances of the run. The mark of an active one extends a little into the future,
// so that the next look still finds it active.
void run_controller::mark_faults(result& r) const {
  const auto seconds = [](duration d) { return std::chrono::duration<double>(d).count(); };
  r.marks.clear();
  for (const faults::infliction& f : faults_.all()) {
    const duration lasted = f.over ? f.lasted : loop_.now() - f.began + 2s;
    r.marks.push_back(
        {seconds(f.began - from_ns(r.window_start_ns)), seconds(lasted), f.kind, f.text});
  }
  std::ranges::sort(r.marks, {}, &mark::at_s);
}

bool run_controller::enough(time_point now) const {
  if (setup_.seen_enough != nullptr && setup_.seen_enough->load()) return true;
  const duration elapsed = now - from_ns(window_.start_ns.load());
  if (elapsed >= job_.stop_at_most) return true;
  const auto counted = static_cast<std::uint64_t>(collector_->sum(&gauges::counted));
  return elapsed >= job_.stop_duration && counted >= job_.stop_samples &&
         collector_->history().transfers_so_far() >= job_.stop_owner_changes;
}

// Lets attempts in flight end by themselves, then cuts holds short. Every driver call has a
// deadline, so this ends, even if a driver misses it.
task<void> run_controller::drain(result& r) {
  if (window_.end_ns.load() == window::never) co_await end_window(r);
  const time_point since = loop_.now();
  const duration patience = job_.wait + job_.command_timeout;
  awake_time draining(since);
  bool hurried = false;
  while (!pool_.all_quiet() || !faults_.over()) {
    co_await next_tick();
    mark_faults(r);
    run_tick(phase::draining, since);
    const duration waited = draining.passed(loop_.now());
    if (!hurried && (waited > patience || interrupts() > 1 || pool_.failure())) {
      pool_.hurry();
      hurried = true;
    }
    const bool is_stuck = !pool_.all_quiet() && waited > 3 * patience + calls_.patience();
    if (is_stuck && !give_up_on_clients(r)) break;
  }
  co_await watch_->end();
  collector_->finish(to_ns(loop_.now()));
}

// False: nothing can end them, and the run goes on without them.
bool run_controller::give_up_on_clients(result& r) {
  r.end_as(ending::failed, calls_.sentence("a client's call"));
  return pool_.kill_the_stuck();
}

double run_controller::done_fraction(double elapsed_s) const {
  const auto share = [](double part, double whole) { return whole > 0 ? part / whole : 1.0; };
  const auto counted = static_cast<double>(collector_->sum(&gauges::counted));
  const double by_time =
      share(elapsed_s, std::chrono::duration<double>(job_.stop_duration).count());
  const double by_samples = share(counted, static_cast<double>(job_.stop_samples));
  const double by_changes = share(static_cast<double>(collector_->history().transfers_so_far()),
                                  static_cast<double>(job_.stop_owner_changes));
  const double by_cap = share(elapsed_s, std::chrono::duration<double>(job_.stop_at_most).count());
  return std::min(1.0, std::max(by_cap, std::min({by_time, by_samples, by_changes})));
}

}  // namespace lockmark::run
