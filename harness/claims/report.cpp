#include "harness/claims/report.hpp"

#include <fmt/format.h>

#include "harness/templates/fill.hpp"

namespace lockmark::claims {

extern const lockmark::templates::texts templates;

namespace {

using json = nlohmann::ordered_json;

json json_of(const experiment& x, const evidence& e) {
  json runs = json::array();
  const auto found = e.all().find(x.label);
  if (found != e.all().end()) {
    for (const auto& r : found->second) runs.push_back(r.name);
  }
  return {{"label", x.label}, {"lock", x.lock}, {"topology", x.topology},
          {"job", x.job},     {"set", x.set},   {"runs", std::move(runs)}};
}

json json_of(const tested& t) {
  json experiments = json::array();
  for (const experiment& x : t.what.experiments) experiments.push_back(json_of(x, t.found));
  return {
      {"claim", t.what.id},
      {"says", t.what.says},
      {"predicts", t.what.predicts},
      {"mind", t.what.mind},
      {"verdict", name_of(t.verdict.is)},
      {"because", t.verdict.because},
      {"explanation", t.verdict.explanation.empty() ? json() : json(name_of(t.verdict.explained))},
      {"explained_by", t.verdict.explanation},
      {"experiments", std::move(experiments)}};
}

// Adds what a reader wants to see of the runs.
void add_figures(json& shown, const std::string& label, const evidence& e) {
  for (const char* name : {"tps", "success_rate", "p50", "p99"}) {
    const report::figure& of = report::known_figure(name);
    const auto f = e.of(label, of);
    shown[name] = f ? show(*f, of) : "-";
  }
  shown["violated"] = fmt::format("{} of {}", e.violated_runs(label), e.runs(label));
}

}  // namespace

std::string command_for(const claim& c) {
  return fmt::format("lockmark claims {}", c.id);
}

std::string to_markdown(const std::vector<tested>& all) {
  json data;
  for (const tested& t : all) {
    json& shown = data["claims"].emplace_back(json_of(t));
    shown["again"] = command_for(t.what);
    for (json& x : shown.at("experiments")) add_figures(x, x.at("label"), t.found);
  }
  return templates::filled({templates, templates::unchanged}, "claims", data);
}

std::string to_json(const std::vector<tested>& all) {
  json list = json::array();
  for (const tested& t : all) list.push_back(json_of(t));
  return list.dump(2) + "\n";
}

}  // namespace lockmark::claims
