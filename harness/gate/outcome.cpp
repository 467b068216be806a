#include "harness/gate/outcome.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/base/lists.hpp"
#include "harness/gate/metrics.hpp"
#include "harness/report/markdown.hpp"
#include "harness/templates/fill.hpp"

namespace lockmark::gate {

extern const lockmark::templates::texts templates;

namespace {

using json = nlohmann::ordered_json;
using report::tone;

// The change of the figure itself, not of its worsening: "+12.3 %".
std::string change_text(const metric& m, double worsening) {
  const double change = m.higher_is_better ? 1 / (1 + worsening) - 1 : worsening;
  return fmt::format("{:+.1f} %", 100 * change);
}

// "n/a (1 pair)", "n/a (1 stored run)": of what there is too little.
std::string too_few(const conclusion& c) {
  const bool of_stored = c.stored > 0 && c.stored < c.pairs;
  const std::size_t n = of_stored ? c.stored : c.pairs;
  const auto* const what = of_stored ? "stored run" : c.stored > 0 ? "run" : "pair";
  return fmt::format("n/a ({} {}{})", n, what, n == 1 ? "" : "s");
}

bool has_bounds(const assessment& a) {
  return std::isfinite(a.most) && a.least > -1;
}

// "-0.3 % .. +1.2 %"; both bounds are finite, or neither is.
std::string range_text(const metric& m, const assessment& a) {
  const std::string least = change_text(m, a.least), most = change_text(m, a.most);
  return m.higher_is_better ? fmt::format("{} .. {}", most, least)
                            : fmt::format("{} .. {}", least, most);
}

std::string bounds_text(const finding& f, const conclusion& c) {
  if (f.of.exact) return "exact";
  return has_bounds(f.shown) ? range_text(f.of, f.shown) : too_few(c);
}

std::string blind_spot_text(const finding& f, const conclusion& c) {
  if (!std::isfinite(f.shown.blind_spot)) return too_few(c);
  return fmt::format("{:.1f} %", 100 * f.shown.blind_spot);
}

tone tone_of(decision d) {
  return d == decision::pass ? tone::good : d == decision::regression ? tone::bad : tone::doubtful;
}

// "10 pairs in 75 s, seed 7", "10 runs against 12 stored runs in 40 s, seed 7"
std::string pairs_text(const outcome& o) {
  const conclusion& c = o.found;
  const auto counted = [](std::size_t n, std::string_view what) {
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
  };
  const std::string measured = c.stored > 0 ? fmt::format("{} against {}", counted(c.pairs, "run"),
                                                          counted(c.stored, "stored run"))
                                            : counted(c.pairs, "pair");
  return fmt::format("{} in {:.0f} s, seed {}", measured, o.took_s, o.seed);
}

std::string control_text(const outcome& o) {
  if (!o.found.control) return "not measured";
  const metric control{"control", true};
  const assessment& a = *o.found.control;
  return fmt::format("{} ({})", change_text(control, a.effect),
                     has_bounds(a) ? range_text(control, a) : "no bounds");
}

std::string row_text(const finding& f, const conclusion& c, const report::style& look) {
  return fmt::format("  {:<24}{:>12}{:>12} {:>10}  {:<22}{:>18}  {}\n", f.of.name,
                     value_text(f.of.name, f.baseline), value_text(f.of.name, f.candidate),
                     change_text(f.of, f.shown.effect), bounds_text(f, c), blind_spot_text(f, c),
                     look.paint(name_of(f.how), tone_of(f.how)));
}

json row_json(const finding& f, const conclusion& c) {
  return {{"name", f.of.name},
          {"baseline", value_text(f.of.name, f.baseline)},
          {"candidate", value_text(f.of.name, f.candidate)},
          {"change", change_text(f.of, f.shown.effect)},
          {"bounds", bounds_text(f, c)},
          {"detectable", blind_spot_text(f, c)},
          {"passed", f.how == decision::pass},
          {"verdict", name_of(f.how)}};
}

report::test_case case_for(const outcome& o, const std::string& name, decision how,
                           const std::string& why) {
  using outcome_of_case = report::test_case::outcome;
  report::test_case c;
  c.scenario = fmt::format("gate {}", o.job);
  c.name = name;
  c.started_utc = o.started_utc;
  c.properties = {
      {"baseline", o.baseline}, {"candidate", o.candidate}, {"seed", fmt::format("{}", o.seed)}};
  if (how == decision::pass) return c;
  const bool fails = how == decision::regression && !o.only_warns;
  c.how = fails ? outcome_of_case::failed : outcome_of_case::skipped;
  c.type = fails ? "regression" : how == decision::inconclusive ? "inconclusive" : "warning";
  c.message = why;
  return c;
}

}  // namespace

int exit_status(const outcome& o) {
  if (o.found.how == decision::inconclusive) return 3;
  return o.found.how == decision::regression && !o.only_warns ? 1 : 0;
}

std::string verdict_of(const outcome& o) {
  if (o.only_warns && o.found.how == decision::regression) return "WARNING";
  return std::string(name_of(o.found.how));
}

std::string outcome_text(const outcome& o, const report::style& look) {
  std::string text =
      fmt::format("gate {}: {}\n", o.job, look.paint(verdict_of(o), tone_of(o.found.how)));
  for (const std::string& reason : o.found.reasons) text += fmt::format("  - {}\n", reason);
  for (const std::string& note : o.found.notes) text += fmt::format("  note: {}\n", note);
  text += fmt::format("\n  baseline   {}\n  candidate  {}\n  {}; control {}\n\n", o.baseline,
                      o.candidate, pairs_text(o), control_text(o));
  if (o.found.metrics.empty()) return text;
  text += fmt::format("  {:<24}{:>12}{:>12}{:>11}  {:<22}{:>18}  {}\n", "metric", "baseline",
                      "candidate", "change", "bounds", "detectable", "verdict");
  for (const finding& f : o.found.metrics) text += row_text(f, o.found, look);
  return text;
}

std::string outcome_markdown(const outcome& o) {
  const tone sign = o.only_warns ? tone::doubtful : tone_of(o.found.how);
  json data{{"good", sign == tone::good},
            {"bad", sign == tone::bad},
            {"doubtful", sign == tone::doubtful},
            {"verdict", verdict_of(o)},
            {"job", o.job},
            {"baseline", o.baseline},
            {"candidate", o.candidate},
            {"reasons", o.found.reasons},
            {"notes", o.found.notes},
            {"pairs", pairs_text(o)},
            {"control", control_text(o)}};
  for (const finding& f : o.found.metrics) data["metrics"].push_back(row_json(f, o.found));
  const auto safe = [](const std::string& text) { return report::markdown_text(text); };
  return report::markdown_cut(templates::filled({templates, safe}, "gate", data) + "\n");
}

std::vector<report::test_case> outcome_cases(const outcome& o) {
  std::vector<report::test_case> all;
  for (const finding& f : o.found.metrics) all.push_back(case_for(o, f.of.name, f.how, f.why));
  report::test_case whole = case_for(o, "session", o.found.how, joined(o.found.reasons, {}, "; "));
  whole.seconds = o.took_s;
  whole.report = outcome_text(o);
  all.push_back(std::move(whole));
  return all;
}

}  // namespace lockmark::gate
