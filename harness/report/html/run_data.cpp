#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/report/cause.hpp"
#include "harness/report/html/page_data.hpp"

namespace lockmark::report::html {
namespace {

constexpr std::size_t most_examples = 20;

std::string title_of(const subject& s) {
  const std::string& scenario = s.in_table.scenario;
  return scenario.empty() ? s.label : fmt::format("{}, {}", s.label, scenario);
}

std::string cell_of(const row& r, std::string_view name) {
  return cell_text(known_figure(name), r[name], r.bound);
}

// "45.1 to 48.9 ms"; the unit appears twice only if the two differ.
std::string interval_of(const json& entry) {
  const json& low_ns = look(entry, {"low_ns"});
  if (low_ns.is_null()) return "-";
  std::string low = shown_time(low_ns);
  const std::string high = shown_time(look(entry, {"high_ns"}));
  const auto unit = low.rfind(' ');
  if (unit != std::string::npos && high.ends_with(low.substr(unit))) low.resize(unit);
  return fmt::format("{} to {}", low, high);
}

struct quantile {
  std::string text = "-";
  std::string interval = "-";
};

quantile quantile_of(const subject& s, const char* which, double q) {
  const json& all = s.at({"quantiles", which, "quantiles"});
  if (!all.is_array()) return {};
  for (const json& entry : all) {
    if (real_of(look(entry, {"q"})) != q) continue;
    return {s.time(look(entry, {"value_ns"})), interval_of(entry)};
  }
  return {};
}

json quantile_rows(const subject& s) {
  json rows = json::array();
  for (const double q : {0.5, 0.9, 0.95, 0.99, 0.999, 0.9999}) {
    const quantile response = quantile_of(s, "response", q), service = quantile_of(s, "service", q);
    if (response.text == "-" && service.text == "-") continue;
    rows.push_back(numbers_row(name_of_quantile(q),
                               {response.text, response.interval, service.text, service.interval}));
  }
  return rows;
}

// The class of a word in a table.
std::string shade_of(std::string_view verdict) {
  return verdict == "held" ? "ok" : verdict == "broken" ? "alarm" : "doubt";
}

void add_verdict(const subject& s, json& data) {
  const row& r = s.in_table;
  const std::string verdict = verdict_of(s);
  data["verdict"] = verdict;
  data["verdict_is"][verdict] = true;
  if (r.untested) data["untested"] = text_of(*r.untested);
  const double below = real_of(s.at({"verdict", "exposure", "violation_share_below_95"}));
  data["only_one"] = s.at({"verdict", "violations"}) == 1;
  data["cause"] = verdict == "broken" ? fault_at_violation(s.run.content) : "";
  data["too_few"] = below > 0.5;
  const bool rare = below > 0 && below <= 0.5;
  data["fewer_than"] = rare ? fmt::format("{:.0f}", std::floor(1 / below)) : "";
  data["trust"] = !r.valid ? "bad" : r.bound ? "doubtful" : "good";
  data["figures_are"][!r.complete ? "incomplete"
                      : !r.valid  ? (verdict == "unknown" ? "of_nothing" : "wrong")
                      : r.bound   ? "bounds"
                      : is_true(s.at({"verdict", "saturated"})) ? "saturated"
                                                                : "right"] = true;
}

void add_figures(const subject& s, json& data) {
  const row& r = s.in_table;
  const auto entry = [&](double q) -> json {
    const quantile found = quantile_of(s, "response", q);
    return {{"text", found.text}, {"interval", found.interval}};
  };
  data["throughput"] = cell_of(r, "tps") + (r["tps"].value ? "/s" : "");
  data["success"] = cell_of(r, "success_rate");
  data["attempts"] = r.samples();
  data["p50"] = entry(0.5);
  data["p99"] = entry(0.99);
  data["quantiles"] = quantile_rows(s);
  data["tiles"] = json::array();
  for (const figure& f : figures()) {
    if (!f.tile.title.empty()) {
      data["tiles"].push_back(
          {{"head", f.tile.title}, {"text", cell_of(r, f.name)}, {"note", f.tile.note}});
    }
    if (f.column.head.empty()) continue;
    // Beside other runs; a quantile with its interval below it in small type.
    const quantile shown = f.q > 0 ? quantile_of(s, "response", f.q) : quantile{cell_of(r, f.name)};
    data[f.of_verdict ? "verdict_cells" : "cells"].push_back(
        {{"text", shown.text}, {"interval", shown.interval == "-" ? "" : shown.interval}});
  }
}

// Two holds at once, as bars on one scale from the first grant (0 %) to the last release (100 %).
json example(const json& violation) {
  json holds = json::array();
  double from = 0, to = 0;
  for (const char* key : {"first", "second"}) {
    json hold = look(violation, {key});
    const double begin = real_of(look(hold, {"granted_ns"}));
    const double end = real_of(look(hold, {"release_sent_ns"}));
    from = holds.empty() ? begin : std::min(from, begin);
    to = holds.empty() ? end : std::max(to, end);
    holds.push_back(hold.is_object() ? std::move(hold) : json::object());
  }
  const double whole = std::max(to - from, 1.0);
  for (json& hold : holds) {
    const double begin = real_of(look(hold, {"granted_ns"}));
    const double length = real_of(look(hold, {"release_sent_ns"})) - begin;
    hold["left"] = fmt::format("{:.2f}", 100 * (begin - from) / whole);
    hold["width"] = fmt::format("{:.2f}", std::max(100 * length / whole, 0.5));
  }
  return {{"key", shown(look(violation, {"key"}))},
          {"overlap_ns", look(violation, {"overlap_ns"})},
          {"certain", is_true(look(violation, {"certain"}))},
          {"holds", std::move(holds)}};
}

void add_safety(const subject& s, json& data) {
  const json& holders = s.at({"safety", "holders_allowed"});  // 1.1
  if (holders.is_number() && holders != 1) data["holders_allowed"] = holders;
  const json& examples = s.at({"safety", "examples"});
  data["examples"] = json::array();
  for (std::size_t i = 0; examples.is_array() && i < examples.size() && i < most_examples; ++i) {
    data["examples"].push_back(example(examples[i]));
  }
}

void add_charts(const subject& s, chart_sheet& sheet, json& data) {
  data["percentiles"] = percentile_chart(s, sheet);
  data["ends_early"] = s.not_granted() > 0;
  data["marks"] = marks_of(s);
  const std::size_t marks = s.at({"marks"}).size();
  if (marks > data["marks"].size()) data["more_marks"] = marks - data["marks"].size();
  data["rates"] = rate_chart(s, sheet);
  data["heat"] = heat_chart(s, sheet);
  data["outcomes"] = outcome_chart(s, sheet);
  data["shares"] = share_chart(s, sheet);
  data["cost"] = cost_chart(s, sheet);
}

json server_counters(const subject& s) {
  const json& server = s.at({"cost_per_acquire", "server"});
  const double grants = real_of(s.at({"cost_per_acquire", "grants"}));
  json rows = json::array();
  if (!server.is_object()) return rows;
  for (const auto& [name, n] : server.items()) {
    if (real_of(n) == 0) continue;
    rows.push_back(numbers_row(
        name, {shown(n), grants > 0 ? fmt::format("{:.3f}", real_of(n) / grants) : "-"}));
  }
  return rows;
}

// Nested objects appear as "host.kernel".
void add_facts(const std::string& prefix, const json& value, json& facts) {
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) {
      add_facts(prefix.empty() ? key : fmt::format("{}.{}", prefix, key), member, facts);
    }
  } else if (prefix != "job") {
    facts.push_back({{"name", prefix}, {"fact", shown(value)}});
  }
}

}  // namespace

json run_data(const subject& s, bool full, chart_sheet& sheet) {
  const row& r = s.in_table;
  const std::string state = state_of(s);
  const std::vector<std::string> reasons = texts_of(r.reasons);
  json data{{"id", s.id},
            {"label", s.label},
            {"title", title_of(s)},
            {"scenario", r.scenario},
            {"implementation", r.implementation.empty() ? r.lock : r.implementation},
            {"folder", s.run.name},
            {"safety_class", r.safety_class},
            {"held", held_word(s)},
            {"figures", figures_word(s)},
            {"shade_of_held", shade_of(verdict_of(s))},
            {"shade_of_figures", !r.valid  ? "alarm"
                                 : r.bound ? "doubt"
                                           : "ok"},
            {"complete", r.complete},
            {"valid", r.valid},
            {"bound", r.bound},
            {"sound", state.empty() || state == "bound"},
            {"reasons", reasons},
            {"why", fmt::format("{}", fmt::join(reasons, "; "))},
            {"notes", s.notes},
            {"full", full},
            {"json", s.run.content}};
  add_verdict(s, data);
  add_figures(s, data);
  add_safety(s, data);
  data["lanes"] = hold_lanes(s, full);
  if (!full) return data;
  add_charts(s, sheet, data);
  data["counters"] = server_counters(s);
  data["harness_times"] = {{"bound", false}};
  data["facts"] = json::array();
  add_facts("", s.at({"run"}), data["facts"]);
  add_facts("", s.at({"provenance"}), data["facts"]);
  const json& job = s.at({"provenance", "job"});
  if (job.is_string()) data["job"] = job;
  return data;
}

}  // namespace lockmark::report::html
