#include "harness/claims/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>

#include "harness/report/text.hpp"
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

// "1 run of each experiment": how much a verdict rests on.
std::string runs_text(const tested& t) {
  std::uint64_t least = ~std::uint64_t{0}, most = 0;
  for (const experiment& x : t.what.experiments) {
    least = std::min(least, t.found.runs(x.label));
    most = std::max(most, t.found.runs(x.label));
  }
  if (least >= most) return fmt::format("{} run{} of each experiment", most, most == 1 ? "" : "s");
  return fmt::format("{} to {} runs of each experiment", least, most);
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

std::string command_for(const claim& c, const std::string& program) {
  return fmt::format("{} claims {}", program, c.id);
}

std::string to_markdown(const std::vector<tested>& all) {
  json data;
  for (const tested& t : all) {
    json& shown = data["claims"].emplace_back(json_of(t));
    shown["again"] = command_for(t.what);
    shown["runs"] = runs_text(t);
    for (json& x : shown.at("experiments")) add_figures(x, x.at("label"), t.found);
  }
  return templates::filled({templates, templates::unchanged}, "claims", data);
}

std::string to_text(const std::vector<tested>& all, std::size_t width, const std::string& program) {
  std::string text;
  const auto add = [&](std::size_t indent, const std::string& paragraph) {
    for (const std::string& line : report::wrapped(paragraph, width - indent)) {
      text += fmt::format("{:{}}{}\n", "", indent, line);
    }
  };
  for (const tested& t : all) {
    if (!text.empty()) text += "\n";
    add(0, fmt::format("Claim {}: {}.", t.what.id, t.what.says));
    add(0, fmt::format("{} by {}: {}.", name_of(t.verdict.is), runs_text(t), t.verdict.because));
    add(2, fmt::format("Predicted: {}", t.what.predicts));
    add(2, fmt::format("Mind: {}", t.what.mind));
    if (!t.verdict.explanation.empty()) {
      add(2, fmt::format("This explanation is {}: {}.", name_of(t.verdict.explained),
                         t.verdict.explanation));
    }
    for (const experiment& x : t.what.experiments) {
      json figures;
      add_figures(figures, x.label, t.found);
      add(2, fmt::format("{}: {} on {}, job {}{}{}", x.label, x.lock, x.topology, x.job,
                         x.set.empty() ? "" : " ", fmt::join(x.set, " ")));
      add(4, fmt::format("runs violated: {}; {} grants, {} of attempts granted, acquire p50 {}, "
                         "p99 {}",
                         figures["violated"].get<std::string>(), figures["tps"].get<std::string>(),
                         figures["success_rate"].get<std::string>(),
                         figures["p50"].get<std::string>(), figures["p99"].get<std::string>()));
    }
    add(0, fmt::format("Again: {}", command_for(t.what, program)));
  }
  return text;
}

std::string to_json(const std::vector<tested>& all) {
  json list = json::array();
  for (const tested& t : all) list.push_back(json_of(t));
  return list.dump(2) + "\n";
}

}  // namespace lockmark::claims
