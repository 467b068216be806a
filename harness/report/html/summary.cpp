#include "harness/report/html/summary.hpp"

#include <fmt/core.h>

#include <utility>

#include "harness/report/html/markup.hpp"
#include "harness/report/html/percentiles.hpp"
#include "harness/report/html/verdict.hpp"
#include "harness/report/text.hpp"

namespace lockmark::report::html {
namespace {

std::string rate_of(const row& r) {
  if (!r.tps) return "-";
  return fmt::format("{}{}", r.bound ? ">= " : "", rate_text(*r.tps));
}

std::string success_of(const row& r) {
  return r.success_rate ? share_text(*r.success_rate) : "-";
}

std::string handoff_of(const row& r) {
  if (!r.handoff_p50_ns) return "-";
  return time_text(time_value{*r.handoff_p50_ns, false}, r.bound);
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

// "45.1 to 48.9 ms"; the unit twice only where there are two.
std::string interval_of(const json& entry) {
  const json& low_ns = look(entry, {"low_ns"});
  if (low_ns.is_null()) return "-";
  std::string low = shown_time(low_ns);
  const std::string high = shown_time(look(entry, {"high_ns"}));
  const auto unit = low.rfind(' ');
  if (unit != std::string::npos && high.ends_with(low.substr(unit))) low.resize(unit);
  return fmt::format("{} to {}", low, high);
}

// A quantile and its interval, in small, below it.
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
  tiles += tile("Throughput", rate_of(r) + (r.tps ? "/s" : ""),
                fmt::format("grants, over {} s", shown_number(s.at({"run", "window_s"}), 1)));
  tiles += tile("Success", success_of(r), fmt::format("of {} attempts", r.samples));
  tiles += tile("Acquire p50", s.time(look(p50, {"value_ns"})), "95 %: " + interval_of(p50));
  tiles += tile("Acquire p99", s.time(look(p99, {"value_ns"})), "95 %: " + interval_of(p99));
  tiles += tile("Hand-off p50", handoff_of(r), "to another client");
  tiles += tile("Fairness", number_text(r.fairness, 2), "Jain in short windows; 1 is even");
  tiles += tile("Commands", number_text(r.commands_per_acquire, 2), "per grant");
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

std::string comparison_table(const std::vector<subject>& subjects) {
  table t({{"lock", column::markup},
           {"scenario"},
           {"held", column::markup},
           {"figures", column::markup},
           {"success", column::number},
           {"TPS", column::number},
           {"samples", column::number},
           {"p50", column::figures},
           {"p99", column::figures},
           {"p99.9", column::figures},
           {"hand-off", column::number},
           {"fairness", column::number},
           {"commands", column::number},
           {"safety"},
           {"violations", column::number}});
  for (const subject& s : subjects) {
    const row& r = s.in_table;
    const std::string held = held_word(s), figures = figures_word(s);
    t.add({fmt::format("<a href=\"#{}\">{}</a>", s.id, escaped(s.label)), r.scenario,
           fmt::format("<span class={}>{}</span>", held == "held" ? "ok" : "alarm", held),
           fmt::format("<span class={}>{}</span>", r.valid ? "ok" : "alarm", figures),
           success_of(r), rate_of(r), std::to_string(r.samples), figure_with_interval(s, 0.5),
           figure_with_interval(s, 0.99), figure_with_interval(s, 0.999), handoff_of(r),
           number_text(r.fairness, 2), number_text(r.commands_per_acquire, 2), r.safety_class,
           r.violations ? std::to_string(*r.violations) : "-"});
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
