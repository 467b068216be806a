#include "harness/report/fault_matrix.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "harness/base/lists.hpp"
#include "harness/report/row.hpp"
#include "harness/report/text.hpp"
#include "harness/templates/fill.hpp"

namespace lockmark::report {

extern const lockmark::templates::texts templates;

namespace {

using json = nlohmann::ordered_json;

std::string lock_of(const json& content) {
  return content.at("run").at("lock").get<std::string>() + options_of(content);
}

std::string theory_of(const json& predicted) {
  if (predicted.is_null()) return "";
  const std::int64_t least_ns = whole_number(predicted.at("least_ns"));
  const std::string why = predicted.at("why");
  if (predicted.at("most_ns").is_null()) return fmt::format("never: {}", why);
  const std::int64_t most_ns = whole_number(predicted.at("most_ns"));
  if (least_ns == most_ns) return fmt::format("{}: {}", duration_text(least_ns), why);
  return fmt::format("{} to {}: {}", duration_text(least_ns), duration_text(most_ns), why);
}

void add_run(fault_cell& cell, const json& content) {
  ++cell.runs;
  const bool complete = content.at("run").at("complete").get<bool>();
  if (!complete) ++cell.incomplete;
  const json& verdict = content.at("verdict");
  const bool untested = verdict.contains("held") && verdict.at("held").is_null();
  if (untested) ++cell.untested;
  const json& violations = verdict.at("violations");
  if (!violations.is_null() && violations > 0) {
    ++cell.violated;
    cell.violations += whole_count(violations);
  } else if (complete && !untested) {
    ++cell.safe;
  }
  if (content.at("safety").contains("guard") && !content.at("safety").at("guard").is_null()) {
    const json& guard = content.at("safety").at("guard");
    cell.stale_accesses += whole_count(guard.at("stale_accesses"));
    cell.fenced = guard.at("fenced");
  }
  if (!content.contains("faults") || content.at("faults").empty()) return;
  for (const json& fault : content.at("faults")) {
    cell.among_others += whole_count(fault.at("violations_among_others"));
  }
  const json& last = content.at("faults").back();
  const json& recovery = last.at("recovery_ns");
  cell.recoveries_ns.push_back(recovery.is_null() ? std::nullopt
                                                  : std::optional(whole_number(recovery)));
  cell.theory = theory_of(last.at("predicted"));
  if (last.at("agrees") == true) ++cell.agreeing;
  if (!cell.theory.empty() && last.at("agrees").is_null()) ++cell.not_observed;
}

// Not every version of nlohmann can compare JSON with text.
bool says(const json& value, const std::string& text) {
  return value.is_string() && value.get_ref<const std::string&>() == text;
}

bool is_one(const fault_cell& cell, const json& content) {
  const json& run = content.at("run");
  return says(run.at("scenario"), cell.scenario) && says(run.at("topology"), cell.topology) &&
         cell.lock == lock_of(content);
}

std::string recovery_text(const fault_cell& cell) {
  if (cell.recoveries_ns.empty()) return "";
  const auto& all = cell.recoveries_ns;
  if (std::any_of(all.begin(), all.end(), [](const auto& r) { return !r; })) return "never";
  return duration_text(**std::max_element(all.begin(), all.end()));
}

// "**2/3 violated**, 1.5 s": a cell of the matrix.
std::string cell_markdown(const fault_cell& cell) {
  std::string text = cell.violated > 0 ? fmt::format("**{}/{} violated**", cell.violated, cell.runs)
                     : cell.safe > 0   ? "safe"
                                       : not_safe_text(cell);
  const std::string recovery = recovery_text(cell);
  if (!recovery.empty()) text += fmt::format(", {}", recovery);
  if (cell.incomplete > 0) text += fmt::format(", {} incomplete", cell.incomplete);
  return text;
}

std::string row_name(const fault_cell& c) {
  return fmt::format("{} | {}", c.lock, c.topology);
}
std::string backend_name(const fault_cell& c) {
  return c.lock.substr(0, c.lock.find('/'));
}

std::string matrix(const std::vector<fault_cell>& cells) {
  const auto columns = distinct(cells, &fault_cell::scenario);
  std::string text =
      fmt::format("| lock | topology | {} |\n| --- | --- |", joined(columns, {}, " | "));
  for (std::size_t i = 0; i < columns.size(); ++i) text += " --- |";
  text += "\n";
  for (const std::string& row : distinct(cells, row_name)) {
    text += fmt::format("| {} |", row);
    for (const std::string& column : columns) {
      const auto cell = std::find_if(cells.begin(), cells.end(), [&](const fault_cell& c) {
        return row_name(c) == row && c.scenario == column;
      });
      text += fmt::format(" {} |", cell == cells.end() ? "-" : cell_markdown(*cell));
    }
    text += "\n";
  }
  return text;
}

json cell_json(const fault_cell& c) {
  json recoveries = json::array();
  for (const auto& r : c.recoveries_ns) recoveries.push_back(r ? json(*r) : json());
  return {{"scenario", c.scenario},
          {"lock", c.lock},
          {"topology", c.topology},
          {"runs", c.runs},
          {"violated", c.violated},
          {"incomplete", c.incomplete},
          {"violations", c.violations},
          {"among_others", c.among_others},
          {"stale_accesses", c.stale_accesses},
          {"fenced", c.fenced},
          {"recoveries_ns", std::move(recoveries)},
          {"theory", c.theory.empty() ? json() : json(c.theory)},
          {"agreeing", c.agreeing},
          {"not_observed", c.not_observed}};
}

json scenario_json(const std::vector<fault_cell>& cells, const std::string& scenario) {
  json all{{"scenario", scenario}};
  for (const fault_cell& c : cells) {
    if (c.scenario != scenario) continue;
    json& shown = all["cells"].emplace_back(cell_json(c));
    shown["recovery"] = recovery_text(c);
    shown["recovered"] = c.recoveries_ns.size();
  }
  return all;
}

}  // namespace

std::vector<fault_cell> fault_cells(const std::vector<recorded_run>& runs) {
  std::vector<fault_cell> cells;
  for (const recorded_run& run : runs) {
    from_content(run, [&](const json& content) {
      auto cell = std::find_if(cells.begin(), cells.end(),
                               [&](const fault_cell& c) { return is_one(c, content); });
      if (cell == cells.end()) {
        fault_cell fresh;
        fresh.scenario = content.at("run").at("scenario");
        fresh.lock = lock_of(content);
        fresh.topology = content.at("run").at("topology");
        cell = cells.insert(cells.end(), std::move(fresh));
      }
      add_run(*cell, content);
    });
  }
  return cells;
}

std::string not_safe_text(const fault_cell& cell) {
  return cell.untested == cell.runs ? "not tested" : "not tested to the end";
}

std::string fault_matrix_markdown(const std::vector<fault_cell>& cells) {
  std::string text;
  for (const std::string& backend : distinct(cells, backend_name)) {
    std::vector<fault_cell> its;
    std::copy_if(cells.begin(), cells.end(), std::back_inserter(its),
                 [&](const fault_cell& c) { return backend_name(c) == backend; });
    text += fmt::format("{}{}", text.empty() ? "" : "\n", matrix(its));
  }
  json data;
  for (const std::string& scenario : distinct(cells, &fault_cell::scenario)) {
    data["scenarios"].push_back(scenario_json(cells, scenario));
  }
  return text + templates::filled({templates, templates::unchanged}, "fault_scenarios", data);
}

std::string fault_matrix_json(const std::vector<fault_cell>& cells) {
  json all = json::array();
  for (const fault_cell& c : cells) all.push_back(cell_json(c));
  return all.dump(2) + "\n";
}

}  // namespace lockmark::report
