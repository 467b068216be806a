#include "harness/metrics/families.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "harness/report/figures.hpp"
#include "harness/run/build_info.hpp"
#include "harness/run/result_json.hpp"
#include "harness/run/run_job.hpp"

namespace lockmark::metrics {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricType;
using label = ClientMetric::Label;
using labels = std::vector<label>;
using run::counter;
using run::series;

enum class stage : std::uint8_t { before, measuring, draining, ended };

// The state of a run that is shown, in progress or finished.
struct moment {
  const run::result& known;
  const run::interval& totals;
  const run::findings& found;
  const server_counters& server;
  traffic sent{};
  stage now = stage::before;
  std::int64_t in_flight = 0;
  std::int64_t holding = 0;
  double server_silent_s = 0;
  double elapsed_s = 0;                             // of the window
  const nlohmann::ordered_json* written = nullptr;  // run.json, once the run is over
};

// Label values may come from the command line, and one that is not UTF-8 would spoil the whole
// page.
std::string utf8(const std::string& text) {
  const auto replace = nlohmann::json::error_handler_t::replace;
  return nlohmann::json::parse(nlohmann::json(text).dump(-1, ' ', false, replace))
      .get<std::string>();
}

ClientMetric::Histogram cumulative(const stats::histogram& h) {
  ClientMetric::Histogram all;
  all.sample_count = static_cast<std::uint64_t>(h.count());
  all.sample_sum = static_cast<double>(h.sum_ns()) / 1e9;
  std::uint64_t so_far = 0;
  const auto fill_below = [&](std::int64_t value_ns) {
    while (all.bucket.size() < bucket_bounds_ns.size() &&
           bucket_bounds_ns[all.bucket.size()] < value_ns) {
      const auto bound_ns = static_cast<double>(bucket_bounds_ns[all.bucket.size()]);
      all.bucket.push_back({so_far, bound_ns / 1e9});
    }
  };
  h.for_each_bucket([&](std::int64_t lowest_ns, std::int64_t, std::int64_t count) {
    fill_below(lowest_ns);
    so_far += static_cast<std::uint64_t>(count);
  });
  fill_below(bucket_bounds_ns.back() + 1);
  return all;
}

// Gathers families, metric by metric. All series carry the labels given at construction.
class page {
 public:
  explicit page(const labels& of_all) : of_all_(of_all) {
    for (label& l : of_all_) l.value = utf8(l.value);
  }

  // Begins the metric that the next series belong to.
  void counter(const char* name, const char* help) { begin(MetricType::Counter, name, help); }
  void gauge(const char* name, const char* help) { begin(MetricType::Gauge, name, help); }
  void histogram(const char* name, const char* help) { begin(MetricType::Histogram, name, help); }

  template <typename number>
  requires std::is_arithmetic_v<number>
  void add(labels own, number value) {
    ClientMetric& m = metric(std::move(own));
    m.counter.value = m.gauge.value = static_cast<double>(value);
  }
  void add(labels own, const stats::histogram& h) {
    metric(std::move(own)).histogram = cumulative(h);
  }
  // Later than every bucket; of each it is known that it took `least_ns` or more.
  void add_late(labels own, std::uint64_t count, std::int64_t least_ns) {
    ClientMetric::Histogram& h = metric(std::move(own)).histogram;
    h.sample_count = count;
    h.sample_sum = static_cast<double>(count) * static_cast<double>(least_ns) / 1e9;
  }

  // A metric without series is left out.
  families take() {
    std::erase_if(all_, [](const prometheus::MetricFamily& f) { return f.metric.empty(); });
    return std::move(all_);
  }

 private:
  void begin(MetricType type, const char* name, const char* help) {
    prometheus::MetricFamily f;
    f.name = name;
    f.help = help;
    f.type = type;
    all_.push_back(std::move(f));
  }
  ClientMetric& metric(labels own) {
    ClientMetric& m = all_.back().metric.emplace_back();
    m.label = of_all_;
    for (label& l : own) m.label.push_back({std::move(l.name), utf8(l.value)});
    return m;
  }

  labels of_all_;
  families all_;
};

// All attempts: one that was not granted is later than every grant, and has no finite bucket. So
// its series have the bucket +Inf only, and a quantile over the sum of outcomes is of all attempts.
void add_acquires(page& p, const moment& m) {
  p.histogram("lockmark_acquire_duration_seconds",
              "Attempts, from the intended start or the first request sent to the grant; +Inf if "
              "it was not granted.");
  const run::tally& counts = m.totals.counts;
  const std::uint64_t in_doubt = counts[counter::doubt_deadline] + counts[counter::doubt_lost] +
                                 counts[counter::in_flight_at_end];
  const std::uint64_t refused = counts.not_granted() - in_doubt;
  const std::int64_t wait_ns = m.known.job.wait.count();
  for (const auto& [phase, s] :
       {std::pair("response", series::response), std::pair("service", series::service)}) {
    p.add({{"phase", phase}, {"outcome", "granted"}}, m.totals[s]);
    p.add_late({{"phase", phase}, {"outcome", "refused"}}, refused, wait_ns);
    p.add_late({{"phase", phase}, {"outcome", "in_doubt"}}, in_doubt, wait_ns);
  }
}

void add_durations(page& p, const moment& m) {
  p.histogram("lockmark_hold_duration_seconds", "From the grant to the sending of the release.");
  p.add({}, m.totals[series::hold]);
  p.histogram("lockmark_release_duration_seconds",
              "From the sending of the release to its answer.");
  p.add({}, m.totals[series::release]);
  p.histogram("lockmark_handoff_duration_seconds",
              "From the sending of a release to the next grant of that key.");
  p.add({{"kind", "transfer"}}, m.found.transfer);
  p.add({{"kind", "self_reacquire"}}, m.found.self_reacquire);
  p.histogram("lockmark_send_lag_seconds",
              "Sent late although a client was free, or because every client was busy.");
  p.add({{"cause", "timer"}}, m.totals[series::timer_lag]);
  p.add({{"cause", "queue"}}, m.totals[series::queue_lag]);
  p.histogram("lockmark_loop_lag_seconds", "How much later than asked the load threads woke up.");
  p.add({}, m.totals[series::loop_lag]);
}

void add_attempts(page& p, const moment& m) {
  const run::tally& counts = m.totals.counts;
  p.counter("lockmark_attempts_total", "Attempts, by how they ended.");
  for (std::size_t c = 0; c <= static_cast<std::size_t>(counter::in_flight_at_end); ++c) {
    p.add({{"outcome", std::string(run::counter_names[c])}}, counts[static_cast<counter>(c)]);
  }
  p.counter("lockmark_dropped_total", "Attempts that were due while the backlog was full.");
  p.add({}, counts[counter::dropped]);
  p.counter("lockmark_tries_total", "Single tries, also the refused ones of polling locks.");
  p.add({}, counts[counter::tries]);
  p.counter("lockmark_grants_total", "Grants in the window; optimistic locks: commits.");
  p.add({}, m.found.grants);
  p.counter("lockmark_release_failures_total", "Releases that were not confirmed.");
  p.add({{"reason", "not_owner"}}, counts[counter::release_not_owner]);
  p.add({{"reason", "doubt"}}, counts[counter::release_doubt]);
  p.add({{"reason", "unavailable"}}, counts[counter::release_unavailable]);
  p.counter("lockmark_renewals_total", "Renewals of leases.");
  p.add({{"outcome", "extended"}}, counts[counter::renewals]);
  p.add({{"outcome", "lost"}}, counts[counter::renewals_lost]);
  p.counter("lockmark_renewals_late_total", "Renewals after the lease could have ended.");
  p.add({}, counts[counter::renewals_late]);
}

void add_safety(page& p, const moment& m) {
  p.counter("lockmark_transfers_total",
            "Times that a key went from one client to another since the load began.");
  p.add({}, m.found.transfers);
  p.counter("lockmark_chances_total",
            "Requests that met another client's hold, at which a wrong grant would have been seen, "
            "since the load began.");
  p.add({}, m.found.chances);
  p.counter("lockmark_violations_total", "Proofs that the lock is none, since the load began.");
  p.add({{"kind", "certain"}}, m.found.certain_violations);
  p.add({{"kind", "possible"}}, m.found.possible_violations);
  p.add({{"kind", "stale_token"}}, m.found.stale_tokens);
  p.add({{"kind", "lost_update"}}, m.found.lost_updates);
  p.add({{"kind", "broken_promise"}}, m.totals.counts[counter::broken_promises]);
}

void add_traffic(page& p, const moment& m) {
  p.counter("lockmark_client_commands_total", "Commands that the clients sent.");
  p.add({}, m.sent.commands);
  p.counter("lockmark_client_round_trips_total", "Times that a client waited for an answer.");
  p.add({}, m.sent.round_trips);
  p.counter("lockmark_client_bytes_total", "Bytes on the wire, as the clients see it.");
  p.add({{"direction", "in"}}, m.sent.bytes_in);
  p.add({{"direction", "out"}}, m.sent.bytes_out);
  p.counter("lockmark_client_wakeups_total", "Waiters woken by the server.");
  p.add({}, m.sent.wakeups);
  p.counter("lockmark_client_reconnects_total", "Connections made again.");
  p.add({}, m.sent.reconnects);
}

// The largest of the commands that the server counts by name, and the sum of the rest.
void add_server(page& p, const server_counters& server) {
  constexpr std::string_view prefix = "cmd.";
  std::vector<std::pair<std::uint64_t, std::string>> named;
  std::uint64_t in_all = 0;
  for (const auto& [name, count] : server) {
    if (!name.starts_with(prefix)) continue;
    named.emplace_back(count, name.substr(prefix.size()));
    in_all += count;
  }
  std::ranges::stable_sort(named, std::ranges::greater{}, [](const auto& n) { return n.first; });
  if (named.size() > most_commands) named.resize(most_commands);
  const auto total = server.find("commands");
  if (total != server.end()) in_all = std::max(in_all, total->second);
  p.counter("lockmark_server_commands_total", "The server's own count of commands.");
  for (const auto& [count, name] : named) {
    p.add({{"command", name}}, count);
    in_all -= count;
  }
  p.add({{"command", "other"}}, in_all);
}

void add_state(page& p, const moment& m) {
  p.gauge("lockmark_in_flight", "Attempts between first try and end or release.");
  p.add({}, m.in_flight);
  p.gauge("lockmark_holders", "Attempts that hold their key.");
  p.add({}, m.holding);
  p.gauge("lockmark_lock_waiters", "Attempts that wait for their key.");
  p.add({}, std::max<std::int64_t>(0, m.in_flight - m.holding));
  p.gauge("lockmark_offered_per_second", "Attempts that the job lets begin; 0: a closed loop.");
  p.add({}, run::offered_per_s(m.known.job));
  p.gauge("lockmark_fairness_ratio", "Jain's index of grants per client in windows, 0 to 1.");
  p.add({}, m.found.fairness.jain_windowed());
  p.gauge("lockmark_longest_gap_seconds", "Longest time in the window without any grant.");
  p.add({}, static_cast<double>(m.found.longest_gap_ns) / 1e9);
  p.gauge("lockmark_server_silent_seconds",
          "Since when no server has answered although asked; 0 while one answers.");
  p.add({}, m.server_silent_s);
}

// One series per kind of fault, however many faults there are.
void add_faults(page& p, const moment& m) {
  std::map<std::string, bool> on;
  for (const run::mark& f : m.known.marks) {
    if (!f.is_of_job) continue;
    const bool now =
        m.now != stage::ended && f.at_s <= m.elapsed_s && m.elapsed_s < f.at_s + f.for_s;
    on[f.kind] = on[f.kind] || now;
  }
  p.gauge("lockmark_fault_active", "1 while a fault is on that the job injects.");
  for (const auto& [kind, active] : on) p.add({{"fault", kind}}, active);
}

// The base units of Prometheus.
double in_base_units(const report::figure& f, double value) {
  return f.in == report::unit::time ? value / 1e9 : value;
}

// The figures of a run are of the whole of it.
void add_figures(page& p, const moment& m) {
  p.gauge("lockmark_run_figure",
          "A figure of the whole run, in seconds, ratios or per second; NaN until it is over.");
  for (const report::figure& f : report::figures()) {
    const auto read = m.written == nullptr ? report::reading{} : report::read_figure(f, *m.written);
    const double value = read.value ? in_base_units(f, *read.value) : std::nan("");
    p.add({{"figure", std::string(f.name)}}, value);
  }
}

std::string_view verdict_of(const moment& m) {
  if (m.now != stage::ended) return "pending";
  if (!m.known.verdict.valid) return "invalid";
  return m.known.verdict.bound ? "bound" : "valid";
}

void add_run(page& p, const moment& m) {
  const run::result& r = m.known;
  p.gauge("lockmark_run_phase", "1 for the phase that the run is in.");
  p.add({{"phase", "measuring"}}, m.now == stage::measuring);
  p.add({{"phase", "draining"}}, m.now == stage::draining);
  p.add({{"phase", "ended"}}, m.now == stage::ended);
  p.gauge("lockmark_run_validity", "1 for the verdict on the figures.");
  for (const char* verdict : {"pending", "valid", "bound", "invalid"}) {
    p.add({{"verdict", verdict}}, verdict_of(m) == verdict);
  }
  p.gauge("lockmark_run_start_timestamp_seconds", "When the window began, since the epoch.");
  p.add({}, static_cast<double>(r.started_wall_ns) / 1e9);
  p.gauge("lockmark_run_window_seconds",
          "How long the window is; until the run ends, time since it began.");
  p.add({}, m.elapsed_s);
  p.gauge("lockmark_run_info", "Which run this is.");
  const std::string_view status = m.now == stage::ended ? run::name_of(r.how) : "running";
  p.add({{"run", r.run_id},
         {"target", r.target},
         {"workload", r.workload},
         {"status", std::string(status)}},
        1);
}

families of_moment(const moment& m) {
  const std::string& lock = m.known.lock;
  page p({{"backend", lock.substr(0, lock.find('/'))},
          {"lock", lock},
          {"topology", m.known.topology},
          {"scenario", m.known.scenario}});
  add_acquires(p, m);
  add_durations(p, m);
  add_attempts(p, m);
  add_safety(p, m);
  add_traffic(p, m);
  add_server(p, m.server);
  add_state(p, m);
  add_faults(p, m);
  add_run(p, m);
  add_figures(p, m);
  families all = p.take();
  families build = of_build();
  std::ranges::move(build, std::back_inserter(all));
  return all;
}

}  // namespace

families of_build() {
  const run::build_info b = run::this_build();
  page p({});
  p.gauge("lockmark_build_info", "Which build of lockmark this is.");
  p.add({{"version", b.version}, {"revision", b.git_revision}, {"compiler", b.compiler}}, 1);
  return p.take();
}

families of_known(const run::result& known) {
  moment m{known, known.totals, known.found, known.server};
  if (known.started_wall_ns > 0) m.now = stage::measuring;
  return of_moment(m);
}

families of_view(const run::live_view& v, std::int64_t now_ns) {
  moment m{v.known, v.totals, v.found, v.server};
  m.sent = v.totals.sent;
  m.now = v.now == run::phase::measuring ? stage::measuring : stage::draining;
  m.in_flight = v.in_flight;
  m.holding = v.holding;
  m.server_silent_s = v.server_silent_s;
  m.elapsed_s = static_cast<double>(now_ns - v.known.window_start_ns) / 1e9;
  return of_moment(m);
}

families of_result(const run::result& r) {
  moment m{r, r.totals, r.found, r.server};
  m.sent = r.sent;
  m.now = stage::ended;
  m.elapsed_s = r.window_s();
  const nlohmann::ordered_json written = run::to_json(r);
  m.written = &written;
  return of_moment(m);
}

}  // namespace lockmark::metrics
