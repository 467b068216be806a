// The report for programs. Times in seconds, as everywhere in harness/capacity; null: unknown.
#include "harness/capacity/report.hpp"

namespace lockmark::capacity {
namespace {

using json = nlohmann::ordered_json;

json figure_json(const figure& f) {
  return {{"value", f.value}, {"low", f.low}, {"high", f.high}, {"runs", f.runs}};
}

json bounds_json(const bounds& b) {
  return {{"value", b.value}, {"low", b.low}, {"high", b.high}};
}

json time_json(const stats::quantile_ns& t) {
  return {{"s", static_cast<double>(t.value_ns) / 1e9}, {"at_least", t.censored}};
}

json quantile_json(const stats::quantile_estimate& e) {
  json j = {{"q", e.q}, {"n", e.n}};
  j["value"] = e.supported ? time_json(e.value) : json();
  j["low"] = e.supported ? time_json(e.interval.low) : json();
  j["high"] = e.supported ? time_json(e.interval.high) : json();
  return j;
}

json basics_json(const basics& b) {
  json j;
  j["lone_wait_s"] = figure_json(b.lone_wait);
  j["hold_s"] = figure_json(b.hold);
  j["handoff_s"] = figure_json(b.handoff);
  j["service_s"] = figure_json(b.service);
  j["service_second_moment_s2"] = b.second_moment_s2;
  j["bound_per_s"] = b.bound_per_s ? figure_json(*b.bound_per_s) : json();
  j["crowded_per_s"] = figure_json(b.crowded_per_s);
  j["own_keys_per_s"] = figure_json(b.server_per_s);
  j["own_keys_commands_per_grant"] = b.own_commands > 0 ? json(b.own_commands) : json();
  return j;
}

json probe_json(const probed& p, const std::vector<objective>& objectives) {
  json j;
  j["rate_per_s"] = p.what.rate_per_s;
  j["look"] = p.what.looks_before + 1;
  j["confirms"] = p.what.confirms;
  j["doubt"] = p.what.doubt;
  j["verdict"] = name_of(p.verdict);
  j["late"] = json::array();
  for (std::size_t i = 0; i < p.found.objectives.size(); ++i) {
    const auto& o = p.found.objectives[i];
    j["late"].push_back({{"objective", print_objective(objectives[i])},
                         {"allowed_share", o.allowed},
                         {"share", o.late.share},
                         {"low", o.late.low},
                         {"high", o.late.high},
                         {"attempts", o.late.attempts},
                         {"worth_attempts", o.late.worth}});
  }
  j["quantiles_of_last_run"] = json::array();
  for (const auto& q : p.quantiles) j["quantiles_of_last_run"].push_back(quantile_json(q));
  j["mean_wait_s"] = bounds_json(p.mean_wait_s);
  j["granted_per_s"] = p.granted_per_s;
  j["granted_share"] = p.found.granted_share;
  j["dropped"] = p.found.dropped;
  j["backlog_growth_per_s"] =
      bounds_json({p.found.backlog.per_s, p.found.backlog.low, p.found.backlog.high});
  j["all_clients_were_busy"] = p.pool_was_used_up;
  j["harness_to_blame"] = p.harness_to_blame;
  j["runs"] = p.runs;
  return j;
}

json comparison_json(const comparison& c) {
  const auto error = c.quantile_error();
  return {{"rate_per_s", c.rate_per_s},
          {"utilisation", c.utilisation},
          {"predicted_mean_wait_s", c.predicted_mean_s},
          {"measured_mean_wait_s", bounds_json(c.measured_mean_s)},
          {"mean_error", c.mean_error()},
          {"predicted_quantile_s", c.predicted_quantile_s},
          {"measured_quantile", quantile_json(c.measured)},
          {"quantile_error", error ? json(*error) : json()},
          {"run", c.run}};
}

json cell_json(const cell& c) {
  return {{"clients", c.clients},
          {"keys", c.keys},
          {"hold", c.hold},
          {"granted_per_s", figure_json(c.granted_per_s)},
          {"hold_mean_s", c.hold_s},
          {"handoff_mean_s", c.handoff_s},
          {"bound_per_s", c.bound_per_s ? json(*c.bound_per_s) : json()},
          {"random_arrivals", c.open ? comparison_json(*c.open) : json()}};
}

json scaling_json(const scaling& s) {
  json j = {{"keys", s.keys}, {"hold", s.hold}, {"says", s.found.says}, {"runs", s.runs}};
  const usl_finding& f = s.found;
  j["fit"] =
      f.fit ? json{{"contention", f.fit->contention},       {"contention_low", f.contention_low},
                   {"contention_high", f.contention_high},  {"coherence", f.fit->coherence},
                   {"coherence_low", f.coherence_low},      {"coherence_high", f.coherence_high},
                   {"one_client_per_s", f.fit->each_per_s}, {"worst_residual", f.worst_residual}}
            : json();
  j["peak"] =
      f.found ? json{{"clients", f.found->clients}, {"low", f.found->low}, {"high", f.found->high}}
              : json();
  return j;
}

json plan_json(const std::vector<plan_line>& plan) {
  json all = json::array();
  for (const plan_line& l : plan) {
    all.push_back({{"name", l.name},
                   {"value", l.value},
                   {"range", l.range},
                   {"why", l.why},
                   {"runs", l.runs},
                   {"data", l.data}});
  }
  return all;
}

}  // namespace

json to_json(const findings& r) {
  json j;
  j["capacity_schema_version"] = "1.1";
  j["lock"] = r.what.lock;
  j["topology"] = r.what.topology;
  j["target"] = r.what.target;
  j["scenario"] = r.what.scenario;
  j["measures_the_harness"] = r.what.in_memory;
  j["objectives"] = json::array();
  for (const objective& o : r.objectives) j["objectives"].push_back(print_objective(o));
  j["arguments"] = r.arguments;
  j["job"] = r.job;
  j["basics"] = r.base ? basics_json(*r.base) : json();
  j["highest_rate_per_s"] = r.rate ? figure_json(*r.rate) : json();
  j["replayed"] = r.replayed ? json{{"explained_share", r.replayed->explained},
                                    {"handoff_scale", r.replayed->scale},
                                    {"in_order_of_arrival", r.replayed->in_order},
                                    {"edge_per_s", r.replayed->edge_per_s},
                                    {"minutes_that_hold", r.replayed->minutes_that_hold}}
                             : json();
  j["nothing_failed"] = r.nothing_failed;
  j["limited_by_harness"] = r.limited_by_harness;
  j["probes"] = json::array();
  for (const probed& p : r.probes) j["probes"].push_back(probe_json(p, r.objectives));
  j["model"] = json::array();
  for (const comparison& c : r.model) j["model"].push_back(comparison_json(c));
  j["sweep"] = json::array();
  for (const cell& c : r.cells) j["sweep"].push_back(cell_json(c));
  j["scaling"] = json::array();
  for (const scaling& s : r.scalings) j["scaling"].push_back(scaling_json(s));
  j["plan"] = plan_json(r.plan);
  j["notes"] = r.notes;
  return j;
}

}  // namespace lockmark::capacity
