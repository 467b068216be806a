#include <fmt/core.h>

#include <utility>

#include "harness/report/html/markup.hpp"
#include "harness/report/html/parts.hpp"
#include "harness/report/text.hpp"

namespace lockmark::report::html {
namespace {

std::string cell_of(const row& r, std::string_view name) {
  return cell_text(known_figure(name), r[name], r.bound);
}

// The entry of a quantile in run.json, or null.
const json& entry_of(const subject& s, const char* which, double q) {
  static const json unknown;
  const json& all = s.at({"quantiles", which, "quantiles"});
  if (!all.is_array()) return unknown;
  for (const json& entry : all) {
    if (real_of(look(entry, {"q"})) == q) return entry;
  }
  return unknown;
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

// A quantile, with its interval below it in small type.
std::string figure_with_interval(const subject& s, double q) {
  const json& entry = entry_of(s, "response", q);
  const std::string value = s.time(look(entry, {"value_ns"}));
  const std::string interval = interval_of(entry);
  if (interval == "-") return escaped(value);
  return fmt::format("{}<small>{}</small>", escaped(value), escaped(interval));
}

std::string tile(std::string_view name, const std::string& value, const std::string& more) {
  return fmt::format("<div><dt>{}</dt><dd>{}<small>{}</small></dd></div>\n", escaped(name),
                     escaped(value), escaped(more));
}

}  // namespace

std::string key_figures(const subject& s) {
  const row& r = s.in_table;
  const json& p50 = entry_of(s, "response", 0.5);
  const json& p99 = entry_of(s, "response", 0.99);
  std::string tiles;
  tiles += tile("Throughput", cell_of(r, "tps") + (r["tps"].value ? "/s" : ""),
                fmt::format("grants, over {} s", shown_number(s.at({"run", "window_s"}), 1)));
  tiles += tile("Success", cell_of(r, "success_rate"), fmt::format("of {} attempts", r.samples()));
  tiles += tile("Acquire p50", s.time(look(p50, {"value_ns"})), "95 %: " + interval_of(p50));
  tiles += tile("Acquire p99", s.time(look(p99, {"value_ns"})), "95 %: " + interval_of(p99));
  for (const figure& f : figures()) {
    if (f.tile.title.empty()) continue;
    tiles += tile(f.tile.title, cell_of(r, f.name), std::string(f.tile.note));
  }
  const json& gap = s.at({"longest_gap", "length_ns"});  // 1.1
  if (!gap.is_null()) {
    const double began_s = real_of(s.at({"longest_gap", "began_ns"})) / 1e9;
    tiles += tile("Longest gap", shown_time(gap), fmt::format("no grant, from {:.1f} s", began_s));
  }
  return fmt::format("<dl class=tiles>\n{}</dl>\n", tiles);
}

std::string quantile_table(const subject& s) {
  table t({{"acquire"},
           {"response", column::number},
           {"95 % interval", column::number},
           {"service", column::number},
           {"95 % interval", column::number}});
  for (const double q : {0.5, 0.9, 0.95, 0.99, 0.999, 0.9999}) {
    const json& response = entry_of(s, "response", q);
    const json& service = entry_of(s, "service", q);
    if (look(response, {"value_ns"}).is_null() && look(service, {"value_ns"}).is_null()) continue;
    t.add({name_of_quantile(q), s.time(look(response, {"value_ns"})), interval_of(response),
           s.time(look(service, {"value_ns"})), interval_of(service)});
  }
  for (const auto& [key, name] : {std::pair("mean_ns", "mean"), std::pair("max_ns", "max")}) {
    t.add({name, s.time(s.at({"quantiles", "response", key})), "",
           s.time(s.at({"quantiles", "service", key})), ""});
  }
  return t.html() +
         paragraph(
             "Over all attempts; \"> T\": so many were not granted that the quantile lies "
             "beyond T. Response: from when the attempt was due. Service: from when it was "
             "sent. A quantile without enough samples has no row.");
}

namespace {

void add_headings(std::vector<heading>& headings, bool of_verdict) {
  for (const figure& f : figures()) {
    if (f.column.head.empty() || f.of_verdict != of_verdict) continue;
    headings.push_back({std::string(f.column.head), f.q > 0 ? column::figures : column::number});
  }
}

void add_cells(std::vector<std::string>& cells, const subject& s, bool of_verdict) {
  for (const figure& f : figures()) {
    if (f.column.head.empty() || f.of_verdict != of_verdict) continue;
    cells.push_back(f.q > 0 ? figure_with_interval(s, f.q) : cell_of(s.in_table, f.name));
  }
}

}  // namespace

std::string comparison_table(const std::vector<subject>& subjects) {
  std::vector<heading> headings{{"lock", column::markup},
                                {"scenario"},
                                {"held", column::markup},
                                {"figures", column::markup}};
  add_headings(headings, false);
  headings.push_back({"safety"});
  add_headings(headings, true);
  table t(std::move(headings));
  for (const subject& s : subjects) {
    const row& r = s.in_table;
    const std::string held = held_word(s), figures = figures_word(s);
    std::vector<std::string> cells{
        fmt::format("<a href=\"#{}\">{}</a>", s.id, escaped(s.label)), r.scenario,
        fmt::format("<span class={}>{}</span>", held == "held" ? "ok" : "alarm", held),
        fmt::format("<span class={}>{}</span>", r.valid ? "ok" : "alarm", figures)};
    add_cells(cells, s, false);
    cells.push_back(r.safety_class);
    add_cells(cells, s, true);
    t.add(std::move(cells));
  }
  return t.html() +
         paragraph(
             "Acquire times are responses of all attempts, with their 95 % intervals below "
             "them; > T: not granted within T; -: too few samples or not known; >= and <=: "
             "the harness was the limit. Hand-off: p50 from a release to the grant of "
             "another client. Fairness: Jain's index in short windows, 1 is even. Commands: "
             "sent for each grant.");
}

}  // namespace lockmark::report::html
