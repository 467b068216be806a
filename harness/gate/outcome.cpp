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

// The change of the figure itself, not of its worsening: "+12.3 %". An infinite bound is "?".
std::string change_text(const metric& m, double worsening) {
  if (!std::isfinite(worsening) || worsening <= -1) return "?";
  const double change = m.higher_is_better ? 1 / (1 + worsening) - 1 : worsening;
  return fmt::format("{:+.1f} %", 100 * change);
}

std::string bounds_text(const finding& f) {
  if (f.of.exact) return "exact";
  const std::string a = change_text(f.of, f.shown.least);
  const std::string b = change_text(f.of, f.shown.most);
  return f.of.higher_is_better ? fmt::format("{} .. {}", b, a) : fmt::format("{} .. {}", a, b);
}

std::string blind_spot_text(const finding& f) {
  if (!std::isfinite(f.shown.blind_spot)) return "?";
  return fmt::format("{:.1f} %", 100 * f.shown.blind_spot);
}

tone tone_of(decision d) {
  return d == decision::pass ? tone::good : d == decision::regression ? tone::bad : tone::doubtful;
}

std::string pairs_text(const outcome& o) {
  return fmt::format("{} pair{} in {:.0f} s, seed {}", o.found.pairs, o.found.pairs == 1 ? "" : "s",
                     o.took_s, o.seed);
}

std::string control_text(const outcome& o) {
  if (!o.found.control) return "not measured";
  const metric control{"control", true};
  return fmt::format("{} ({} .. {})", change_text(control, o.found.control->effect),
                     change_text(control, o.found.control->most),
                     change_text(control, o.found.control->least));
}

std::string row_text(const finding& f, const report::style& look) {
  return fmt::format("  {:<24}{:>12}{:>12} {:>10}  {:<22}{:>11}  {}\n", f.of.name,
                     value_text(f.of.name, f.baseline), value_text(f.of.name, f.candidate),
                     change_text(f.of, f.shown.effect), bounds_text(f), blind_spot_text(f),
                     look.paint(name_of(f.how), tone_of(f.how)));
}

json row_json(const finding& f) {
  return {{"name", f.of.name},
          {"baseline", value_text(f.of.name, f.baseline)},
          {"candidate", value_text(f.of.name, f.candidate)},
          {"change", change_text(f.of, f.shown.effect)},
          {"bounds", bounds_text(f)},
          {"detectable", blind_spot_text(f)},
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
  c.properties = {{"baseline", o.baseline}, {"candidate", o.candidate}};
  if (how == decision::pass) return c;
  const bool fails = how == decision::regression && !o.only_warns;
  c.how = fails ? outcome_of_case::failed : outcome_of_case::skipped;
  c.type = fails ? "regression" : "inconclusive";
  c.message = why;
  return c;
}

}  // namespace

int exit_status(const outcome& o) {
  if (o.found.how == decision::pass) return 0;
  if (o.found.how == decision::inconclusive) return 3;
  return o.only_warns ? 0 : 1;
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
  text += fmt::format("  {:<24}{:>12}{:>12}{:>11}  {:<22}{:>11}  {}\n", "metric", "baseline",
                      "candidate", "change", "bounds", "detectable", "verdict");
  for (const finding& f : o.found.metrics) text += row_text(f, look);
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
  for (const finding& f : o.found.metrics) data["metrics"].push_back(row_json(f));
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
