#include "harness/run/watch.hpp"

#include <algorithm>

#include "harness/faults/schedule.hpp"
#include "harness/run/run_job.hpp"

namespace lockmark::run {
namespace {

using namespace std::chrono_literals;

constexpr duration live_every = 1s;
constexpr duration server_every = 5s;
constexpr duration server_within = 2s;

double seconds(duration d) {
  return std::chrono::duration<double>(d).count();
}

}  // namespace

watch::watch(const setup& s, loop& l, collector& g, const faults::schedule& planned,
             driver_calls& calls)
    : setup_(s),
      loop_(l),
      collector_(g),
      faults_(planned),
      calls_(calls),
      background_(l),
      over_(l) {}

void watch::begin(time_point went, server_counters before) {
  went_ = granted_before_at_ = live_at_ = went;
  server_before_ = std::move(before);
  if (setup_.on_live) background_.spawn(count_on_server());
}

void watch::begin_window(const result& known) {
  known_ = &known;
  live_at_ = loop_.now();
}

task<void> watch::end() {
  counting_ = false;
  over_.set();
  co_await background_.join();
}

task<void> watch::count_on_server() {
  while (counting_) {
    co_await over_.wait_until(loop_.now() + server_every);
    if (!counting_) break;
    server_counters after;
    try {
      const time_point by = loop_.now() + server_within;
      after = co_await calls_.wait_for(setup_.behind.counters(loop_, by), by, "counters");
    } catch (const stuck_call&) {
      break;  // the end of the run will meet it again
    } catch (const std::exception&) {
      continue;  // the run itself finds out whether its server is lost
    }
    server_ = grown(server_before_, after);
  }
}

duration watch::server_silent() const {
  const std::int64_t reached_ns = std::max(collector_.latest(&gauges::reached_ns), to_ns(went_));
  if (collector_.latest(&gauges::failed_ns) <= reached_ns) return duration::zero();
  return loop_.now() - from_ns(reached_ns);
}

void watch::look(phase now, double elapsed_s, double fraction) {
  if (setup_.on_progress) show_progress(now, elapsed_s, fraction);
  if (setup_.on_live && known_ != nullptr && loop_.now() - live_at_ >= live_every) show_live(now);
}

void watch::show_progress(phase now, double elapsed_s, double fraction) {
  progress p;
  p.now = now;
  p.elapsed_s = elapsed_s;
  p.attempts = collector_.sum(&gauges::counted);
  p.connected = collector_.sum(&gauges::connected);
  p.clients = static_cast<std::int64_t>(setup_.job.clients_in_all());
  p.in_flight = collector_.sum(&gauges::in_flight);
  p.violations = collector_.history().violations_so_far();
  p.server_silent_s = went_ == time_point{} ? 0 : seconds(server_silent());
  p.fraction = fraction;
  if (fraction > 0) p.remaining_s = elapsed_s * (1 - fraction) / fraction;
  const std::int64_t granted = collector_.sum(&gauges::granted);
  const double since_s = seconds(loop_.now() - granted_before_at_);
  if (since_s > 0) p.tps = static_cast<double>(granted - granted_before_) / since_s;
  granted_before_ = granted;
  granted_before_at_ = loop_.now();
  if (const timeline_point* last = collector_.last_point(); last && last->attempts > 0) {
    p.has_point = true;
    p.success_rate = static_cast<double>(last->granted) / static_cast<double>(last->attempts);
    p.response_p50 = last->response_p50;
    p.response_p99 = last->response_p99;
  }
  setup_.on_progress(p);
}

void watch::show_live(phase now) {
  live_at_ += live_every;
  const findings found = collector_.history().result();
  live_view view{
      .known = *known_, .totals = collector_.totals(), .found = found, .server = server_};
  view.now = now;
  view.in_flight = collector_.sum(&gauges::in_flight);
  view.holding = collector_.sum(&gauges::holding);
  view.offered_per_s = offered_per_s(setup_.job);
  view.server_silent_s = seconds(server_silent());
  view.faults = faults_.active();
  setup_.on_live(view);
}

server_counters grown(const server_counters& before, const server_counters& after) {
  server_counters all;
  for (const auto& [name, value] : after) {
    const auto was = before.find(name);
    if (was != before.end()) {
      if (value >= was->second) all[name] = value - was->second;
    } else if (!before.empty() && name.starts_with("cmd.")) {
      all[name] = value;  // Redis lists a command from its first call on
    }
  }
  return all;
}

}  // namespace lockmark::run
