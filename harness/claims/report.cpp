#include "harness/claims/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lockmark::claims {
namespace {

using json = nlohmann::ordered_json;

std::string experiment_row(const experiment& x, const evidence& e) {
  const auto text = [&](std::string_view name) {
    const report::figure& of = report::known_figure(name);
    const auto f = e.of(x.label, of);
    return f ? show(*f, of) : "-";
  };
  return fmt::format(
      "| {} | {} on {} | {}{} | {} | {} | {} | {} | {} of {} |\n", x.label, x.lock, x.topology,
      x.job, x.set.empty() ? "" : fmt::format(" {}", fmt::join(x.set, " ")), text("tps"),
      text("success_rate"), text("p50"), text("p99"), e.violated_runs(x.label), e.runs(x.label));
}

std::string section(const tested& t) {
  std::string text = fmt::format(
      "\n### {}. {}\n\n**{}**: {}.\n\nPredicted: {}\n\nMind: {}\n\n"
      "| experiment | lock | job | grants | success | p50 | p99 | violated |\n"
      "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |\n",
      t.what.id, t.what.says, name_of(t.verdict.is), t.verdict.because, t.what.predicts,
      t.what.mind);
  for (const experiment& x : t.what.experiments) text += experiment_row(x, t.found);
  return fmt::format("{}\nAgain: `{}`\n", text, command_for(t.what));
}

}  // namespace

std::string command_for(const claim& c) {
  return fmt::format("lockmark claims {}", c.id);
}

std::string to_markdown(const std::vector<tested>& all) {
  std::string text = "| claim | says | verdict | because |\n| --- | --- | --- | --- |\n";
  for (const tested& t : all) {
    text += fmt::format("| {} | {} | **{}** | {} |\n", t.what.id, t.what.says,
                        name_of(t.verdict.is), t.verdict.because);
  }
  for (const tested& t : all) text += section(t);
  return text;
}

std::string to_json(const std::vector<tested>& all) {
  json list = json::array();
  for (const tested& t : all) {
    json experiments = json::array();
    for (const experiment& x : t.what.experiments) {
      json runs = json::array();
      const auto found = t.found.all().find(x.label);
      if (found != t.found.all().end()) {
        for (const auto& r : found->second) runs.push_back(r.name);
      }
      experiments.push_back({{"label", x.label},
                             {"lock", x.lock},
                             {"topology", x.topology},
                             {"job", x.job},
                             {"set", x.set},
                             {"runs", std::move(runs)}});
    }
    list.push_back({{"claim", t.what.id},
                    {"says", t.what.says},
                    {"predicts", t.what.predicts},
                    {"mind", t.what.mind},
                    {"verdict", name_of(t.verdict.is)},
                    {"because", t.verdict.because},
                    {"experiments", std::move(experiments)}});
  }
  return list.dump(2) + "\n";
}

}  // namespace lockmark::claims
