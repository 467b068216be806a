#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "harness/cli/commands.hpp"
#include "harness/cli/terminal.hpp"
#include "harness/report/run_text.hpp"
#include "harness/report/table.hpp"

namespace lockmark::cli {
namespace {

struct given {
  std::vector<std::string> runs;
  std::string format = "text";
};

int print_report(const given& g) {
  std::vector<report::recorded_run> runs;
  for (const std::string& path : g.runs) runs.push_back(report::read_run(path));
  if (runs.size() == 1 && (g.format == "md" || g.format == "text")) {
    fmt::print("{}", g.format == "md" ? report::run_markdown(runs[0])
                                      : report::run_summary_terminal(runs[0], width_of(stdout)));
    return 0;
  }
  if (runs.size() == 1 && g.format == "json") {
    fmt::print("{}\n", runs[0].content.dump(2));
    return 0;
  }
  std::vector<report::row> rows;
  for (const auto& r : runs) rows.push_back(report::row_of(r));
  rows = report::ranked(std::move(rows));
  fmt::print("{}", g.format == "md"     ? report::table_markdown(rows)
                   : g.format == "csv"  ? report::table_csv(rows)
                   : g.format == "json" ? report::table_json(rows)
                                        : report::table_terminal(rows, width_of(stdout)));
  return 0;
}

}  // namespace

command report_command(CLI::App& app, const context&) {
  const auto g = std::make_shared<given>();
  app.add_option("runs", g->runs, "run folders: one for a report, several for a table")->required();
  app.add_option("--format", g->format, "text, md, json or csv")
      ->check(CLI::IsMember({"text", "md", "json", "csv"}))
      ->capture_default_str();
  return [g] { return print_report(*g); };
}

}  // namespace lockmark::cli
