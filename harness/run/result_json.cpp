#include "harness/run/result_json.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "harness/run/json_values.hpp"

namespace lockmark::run {
namespace {

constexpr std::array<double, 6> quantiles{0.5, 0.9, 0.95, 0.99, 0.999, 0.9999};

std::size_t keys_of(const result& r) {
  return r.job.keys.count(r.job.clients_in_all());
}

json run_section(const result& r) {
  const bool complete = r.how == ending::complete;
  json j;
  j["id"] = r.run_id;
  j["scenario"] = text(r.scenario);
  j["lock"] = r.lock;
  j["implementation"] = text(r.implementation);
  j["features"] = to_string(r.lock_has);
  j["workload"] = r.workload;
  j["topology"] = r.topology;
  j["target"] = r.target;
  j["arguments"] = r.arguments;
  j["seed"] = r.job.seed;
  j["loop"] = config::text_form<config::loop_kind>::print(r.job.loop);
  j["instances"] = r.job.instances;
  j["clients_per_instance"] = r.job.clients;
  j["keys"] = keys_of(r);
  j["wait_ns"] = r.job.wait.count();
  j["lease_ns"] = r.job.lease.count();
  j["rtt_ns"] = r.job.rtt.count();
  j["rtt_jitter_ns"] = r.job.rtt_jitter.count();
  j["started_utc"] = r.started_wall_ns > 0 ? json(iso8601_utc(r.started_wall_ns)) : json();
  j["window_s"] = r.window_s();
  j["warmup_s"] = r.warmup_s;
  j["status"] = name_of(r.how);
  j["complete"] = complete;
  j["why"] = complete ? json() : text(r.why);
  return j;
}

// The rule of three: after n opportunities without a failure, its probability is below 3/n with
// 95 % confidence.
json exposure(const result& r) {
  const bool optimistic = r.lock_has.has(feature::optimistic);
  const std::uint64_t chances = r.found.chances;
  json j;
  j["of"] = optimistic ? "commits that met another" : "requests that met a hold";
  j["chances"] = chances;
  j["owner_changes"] = optimistic ? json() : json(r.found.transfers);
  j["violation_share_below_95"] = r.violations() == 0 && chances > 0
                                      ? json(std::min(1.0, 3.0 / static_cast<double>(chances)))
                                      : json();
  return j;
}

json verdict_section(const result& r) {
  const bool bound = r.verdict.valid && r.verdict.bound;
  const std::optional<message> untested = r.untested();
  json j;
  j["held"] = untested ? json() : json(r.violations() == 0);
  j["untested"] = untested ? message_json(*untested) : json();
  j["violations"] = r.violations();
  j["valid"] = r.verdict.valid;
  j["bound"] = bound ? json(">=") : json();
  j["saturated"] = r.verdict.saturated;
  j["reasons"] = texts_of(r.verdict.reasons);
  j["messages"] = messages_json(r.verdict.reasons);
  j["safety_class"] = lockmark::name_of(r.promises);
  j["exposure"] = exposure(r);
  j["drifting"] = {{"known", r.steady.known},
                   {"drifts", r.steady.known ? json(r.steady.drifts) : json()},
                   {"change_per_minute", json()},
                   {"first_p50_ns", r.steady.known ? time_ns(r.steady.first) : json()},
                   {"last_p50_ns", r.steady.known ? time_ns(r.steady.last) : json()}};
  return j;
}

json counts_section(const result& r) {
  json j;
  j["attempts"] = r.attempts();
  for (std::size_t c = 0; c < counter_names.size(); ++c) {
    j[std::string(counter_names[c])] = r.totals.counts[static_cast<counter>(c)];
  }
  return j;
}

json estimate_json(double q, std::int64_t n, bool supported, const stats::quantile_ns& value,
                   const stats::confidence_interval& interval) {
  return {{"q", q},
          {"n", n},
          {"supported", supported},
          {"value_ns", supported ? time_ns(value) : json()},
          {"low_ns", supported ? time_ns(interval.low) : json()},
          {"high_ns", supported ? time_ns(interval.high) : json()}};
}

// Over all attempts. A mean that includes censored attempts is a lower bound as well.
json over_all_attempts(const stats::attempts& all, const stats::interval_bootstrap& series,
                       std::uint64_t seed) {
  json j;
  const std::int64_t n = all.count();
  const bool censored = all.censored > 0;
  j["n"] = n;
  j["granted"] = all.granted.count();
  j["not_granted"] = all.censored;
  if (n == 0) {
    j["mean_ns"] = j["max_ns"] = json();
  } else {
    const double sum = static_cast<double>(all.granted.sum_ns()) +
                       static_cast<double>(all.censored) * static_cast<double>(all.limit_ns);
    j["mean_ns"] = time_ns(std::llround(sum / static_cast<double>(n)), censored);
    const std::int64_t max_ns = all.granted.max_ns();
    j["max_ns"] = time_ns(censored ? std::max(max_ns, all.limit_ns) : max_ns, censored);
  }
  json list = json::array();
  for (const auto& e : stats::estimate_quantiles(all, series, quantiles, seed)) {
    list.push_back(estimate_json(e.q, e.n, e.supported, e.value, e.interval));
  }
  j["quantiles"] = std::move(list);
  return j;
}

// The longest time in the window without a grant: the cost of a failover.
json gap_section(const result& r) {
  const bool known = r.window_ns > 0;
  return {{"length_ns", known ? json(r.found.longest_gap_ns) : json()},
          {"began_ns", known ? json(r.found.gap_began_ns - r.window_start_ns) : json()}};
}

json quantiles_section(const result& r) {
  const stats::attempts services = r.totals.all_attempts(series::service, r.job.wait);
  json j;
  j["response"] = over_all_attempts(r.responses(), r.bootstrap, r.job.seed);
  j["service"] = over_all_attempts(services, stats::interval_bootstrap{}, r.job.seed);
  return j;
}

// Quantiles that the count supports; the maximum always.
json distribution(const stats::histogram& h) {
  const auto at = [&](double q) {
    return stats::is_supported(q, h.count()) ? json(h.value_at_quantile(q)) : json();
  };
  return {{"count", h.count()},
          {"mean_ns", h.empty() ? json() : number(h.mean_ns())},
          {"p50_ns", at(0.5)},
          {"p90_ns", at(0.9)},
          {"p99_ns", at(0.99)},
          {"p999_ns", at(0.999)},
          {"max_ns", h.empty() ? json() : json(h.max_ns())}};
}

json durations_section(const result& r) {
  json j;
  for (const series s : {series::hold, series::release, series::timer_lag, series::queue_lag,
                         series::loop_lag, series::pipe, series::renewal}) {
    j[std::string(series_names[static_cast<std::size_t>(s)])] = distribution(r.totals[s]);
  }
  j["hiccup"] = distribution(r.hiccup);
  return j;
}

// Shares of the time of all keys together. On one key with constant demand,
// X * (mean hold + mean hand-off) = 1: a check of the bookkeeping, not a finding.
json handoff_section(const result& r) {
  // A lock with several concurrent holders is not handed from one to the next.
  const bool one_holds = r.holders == 1 && r.job.read_share == 0;
  const bool has = !r.lock_has.has(feature::optimistic) && one_holds;
  const auto keys = static_cast<double>(keys_of(r));
  const double time_ns = static_cast<double>(r.window_ns) * keys;
  const auto held_ns = static_cast<double>(r.found.held_ns);
  const auto handed_ns = static_cast<double>(r.found.handed_ns);
  const bool one_key = keys_of(r) == 1;
  json j;
  j["transfer"] = has ? distribution(r.found.transfer) : json();
  j["self_reacquire"] = has ? distribution(r.found.self_reacquire) : json();
  j["idle_while_wanted_share"] =
      has ? ratio(static_cast<double>(r.found.idle_while_wanted_ns), time_ns) : json();
  j["held_share"] = has ? ratio(held_ns, time_ns) : json();
  j["saturated_identity"] =
      has && one_key && r.found.grants > 0 ? ratio(held_ns + handed_ns, time_ns) : json();
  return j;
}

// Over the whole life of the load, warm-up and drain included, because server counters cover it.
json cost_section(const result& r) {
  const auto grants = static_cast<double>(r.grants_in_all);
  const auto each = [&](std::uint64_t n) { return ratio(static_cast<double>(n), grants); };
  // The traffic of a client in a process of its own is unknown here.
  const bool seen = r.totals[series::pipe].empty();
  const auto seen_each = [&](std::uint64_t n) { return seen ? each(n) : json(); };
  const auto commands = r.server.find("commands");
  json j;
  j["grants"] = r.grants_in_all;
  j["client_commands_per_grant"] = seen_each(r.sent.commands);
  j["round_trips_per_grant"] = seen_each(r.sent.round_trips);
  j["bytes_out_per_grant"] = seen_each(r.sent.bytes_out);
  j["bytes_in_per_grant"] = seen_each(r.sent.bytes_in);
  j["wakeups_per_grant"] = seen_each(r.sent.wakeups);
  j["reconnects"] = r.sent.reconnects;
  j["server_commands_per_grant"] = commands == r.server.end() ? json() : each(commands->second);
  j["server"] = r.server.empty() ? json() : json(r.server);
  return j;
}

json marks_section(const result& r) {
  json all = json::array();
  for (const mark& m : r.marks) {
    all.push_back({{"at_s", m.at_s}, {"for_s", m.for_s}, {"kind", m.kind}, {"text", m.text}});
  }
  return all;
}

json prediction_json(const std::optional<faults::prediction>& p) {
  if (!p) return {};
  return {{"least_ns", p->least.count()},
          {"most_ns", p->most ? json(p->most->count()) : json()},
          {"why", p->why}};
}

json faults_section(const result& r) {
  json all = json::array();
  for (const fault_finding& f : r.faults) {
    all.push_back({{"kind", f.kind},
                   {"text", f.text},
                   {"at_s", f.at_s},
                   {"for_s", f.for_s},
                   {"recovery_ns", f.recovery_ns ? json(*f.recovery_ns) : json()},
                   {"keys", f.keys},
                   {"keys_never", f.keys_never},
                   {"violations", f.violations},
                   {"violations_among_others", f.violations_among_others},
                   {"predicted", prediction_json(f.predicted)},
                   {"agrees", f.agrees ? json(*f.agrees) : json()}});
  }
  return all;
}

json hold_json(const result& r, const check::hold& h) {
  const std::uint64_t per_instance = std::max<std::uint64_t>(1, r.job.clients);
  return {{"client", h.client},
          {"who",
           fmt::format("instance {} client {}", h.client / per_instance, h.client % per_instance)},
          {"granted_ns", h.granted_ns - r.window_start_ns},
          {"release_sent_ns", h.release_sent_ns - r.window_start_ns},
          {"token", h.token},
          {"open_at_end", h.open_at_end}};
}

// In columns: two hundred objects would be most of the file.
json holds_json(const result& r, const char* which, const check::holds_of_key& of) {
  json j{{"which", which}, {"key", of.key}};
  for (const char* column : {"client", "granted_ns", "release_sent_ns", "overlaps"}) {
    j[column] = json::array();
  }
  for (const check::hold& h : of.holds) {
    j["client"].push_back(h.client);
    j["granted_ns"].push_back(h.granted_ns - r.window_start_ns);
    j["release_sent_ns"].push_back(h.release_sent_ns - r.window_start_ns);
  }
  for (const auto& [from_ns, to_ns] : of.overlaps) {
    j["overlaps"].push_back(
        {{"from_ns", from_ns - r.window_start_ns}, {"to_ns", to_ns - r.window_start_ns}});
  }
  return j;
}

json guard_json(const result& r) {
  if (!r.found.guard) return json();
  const check::guard_counts& g = *r.found.guard;
  return {{"writes", g.writes},
          {"lost_updates", g.lost_updates},
          {"stale_accesses", g.stale_accesses},
          {"writes_without_token", g.writes_without_token},
          {"misjudged_without_order", g.misjudged_without_order},
          {"fenced", g.fenced}};
}

json safety_section(const result& r) {
  json examples = json::array();
  for (const check::violation& v : r.found.violations) {
    examples.push_back({{"key", v.key},
                        {"overlap_ns", v.overlap_ns},
                        {"clock_error_ns", v.clock_error_ns},
                        {"certain", v.certain},
                        {"first", hold_json(r, v.first)},
                        {"second", hold_json(r, v.second)}});
  }
  json j;
  j["holders_allowed"] = r.holders == 0 ? json() : json(r.holders);
  j["certain_violations"] = r.found.certain_violations;
  j["possible_violations"] = r.found.possible_violations;
  j["stale_tokens"] = r.found.stale_tokens;
  j["lost_updates"] = r.found.lost_updates;
  j["broken_promises"] = r.totals.counts[counter::broken_promises];
  j["orphaned"] = {
      {"holds", r.found.orphaned},
      {"longest_ns", r.found.longest_orphaned_ns > 0 ? json(r.found.longest_orphaned_ns) : json()}};
  j["guard"] = guard_json(r);
  j["examples"] = std::move(examples);
  j["holds"] = json::array();
  const auto add_holds = [&](const char* which, const check::holds_of_key& of) {
    if (!of.holds.empty()) j["holds"].push_back(holds_json(r, which, of));
  };
  add_holds("first", r.found.first_holds);
  add_holds("violation", r.found.violation_holds);
  return j;
}

json harness_section(const result& r) {
  json floor;
  if (r.floor) {
    floor = {{"cycles_per_s", number(r.floor->cycles_per_s)},
             {"response_p50_ns", r.floor->response_p50_ns},
             {"response_p99_ns", r.floor->response_p99_ns}};
  }
  json j;
  j["workers"] = r.workers;
  j["participants"] = r.job.participants;
  j["cpu_cores_used"] = number(r.harness_cpu);
  j["busiest_worker_share"] = number(r.busiest_worker);
  j["proxies_share"] = number(r.self.busy_proxies);
  j["steal_share"] = number(r.self.steal);
  j["times_throttled"] = r.self.times_throttled;
  j["cpu_waiting_share"] = r.self.cpu_waiting ? number(*r.self.cpu_waiting) : json();
  j["offered_per_s"] = r.self.closed_loop ? json() : number(r.self.offered_per_s);
  j["achieved_per_s"] = r.self.closed_loop ? json() : number(r.self.achieved_per_s);
  j["floor"] = std::move(floor);
  j["littles_law"] = {{"clients_in_flight_mean", number(r.found.clients_in_flight)},
                      {"relative_difference", number(r.self.littles_law_difference)},
                      {"fails", r.self.littles_law_fails}};
  return j;
}

}  // namespace

json to_json(const result& r) {
  json j;
  j["schema_version"] = "1.11";
  j["run"] = run_section(r);
  j["verdict"] = verdict_section(r);
  j["counts"] = counts_section(r);
  j["success_rate"] = r.attempts() > 0 ? number(r.success_rate()) : json();
  j["tps"] = r.window_ns > 0 ? number(r.tps()) : json();
  j["samples"] = r.attempts();
  j["longest_gap"] = gap_section(r);
  j["marks"] = marks_section(r);
  j["faults"] = faults_section(r);
  j["quantiles"] = quantiles_section(r);
  j["durations"] = durations_section(r);
  j["handoff"] = handoff_section(r);
  j["fairness"] = fairness_section(r);
  j["cost_per_acquire"] = cost_section(r);
  j["safety"] = safety_section(r);
  j["harness"] = harness_section(r);
  j["hosts"] = hosts_section(r);
  j["provenance"] = provenance_section(r);
  return j;
}

json to_json_while_running(const result& known) {
  json j = to_json(known);
  j["run"]["status"] = "running";
  j["run"]["complete"] = false;
  j["run"]["why"] = "the run has not ended yet, or was killed";
  j["run"]["window_s"] = json();
  j["verdict"]["held"] = json();
  j["verdict"]["untested"] = json();
  j["verdict"]["violations"] = json();
  j["verdict"]["valid"] = json();
  return j;
}

std::string dump(const json& content) {
  return content.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace lockmark::run
