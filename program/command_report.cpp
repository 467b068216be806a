#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/base/errors.hpp"
#include "harness/report/fault_matrix.hpp"
#include "harness/report/html/page.hpp"
#include "harness/report/junit.hpp"
#include "harness/report/run_text.hpp"
#include "harness/report/table.hpp"
#include "program/commands.hpp"
#include "program/declare.hpp"
#include "program/output_file.hpp"
#include "program/terminal.hpp"

namespace lockmark::cli {
namespace {

struct report_options {
  std::vector<std::string> runs;
  std::string format = "text";
  bool timeline = false;
  std::string out;
};

int print_timeline(const report_options& g) {
  if (g.format != "csv" || g.runs.size() != 1) {
    throw usage_error("--timeline: is for one run and --format csv");
  }
  fmt::print("{}", report::timeline_csv(g.runs[0]));
  return 0;
}

std::string junit_of(const std::vector<report::recorded_run>& runs) {
  std::vector<report::test_case> cases;
  for (const auto& r : runs) cases.push_back(report::test_case_of(r));
  return report::junit_xml(cases);
}

int write_html(const report_options& g) {
  const output_file file("--out", g.out);
  const std::vector<std::filesystem::path> runs(g.runs.begin(), g.runs.end());
  const std::string page = report::html::page(runs);
  if (file) {
    file.write(page);
  } else {
    fmt::print("{}", page);
  }
  return 0;
}

int print_report(const report_options& g) {
  if (g.timeline) return print_timeline(g);
  std::vector<report::recorded_run> runs;
  for (const std::string& path : g.runs) runs.push_back(report::read_run(path));
  if (g.format == "faults") {
    fmt::print("{}", report::fault_matrix_markdown(report::fault_cells(runs)));
    return 0;
  }
  if (runs.size() == 1 && (g.format == "md" || g.format == "text")) {
    fmt::print("{}", g.format == "md" ? report::run_markdown(runs[0])
                                      : report::run_summary_terminal(runs[0], width_of(stdout),
                                                                     style_of(screen_of(stdout))));
    return 0;
  }
  if (runs.size() == 1 && g.format == "json") {
    fmt::print("{}\n", runs[0].content.dump(2));
    return 0;
  }
  if (g.format == "junit") {
    fmt::print("{}", junit_of(runs));
    return 0;
  }
  std::vector<report::row> rows;
  for (const auto& r : runs) rows.push_back(report::row_of(r));
  rows = report::ranked(std::move(rows));
  fmt::print("{}", g.format == "md"    ? report::runs_markdown(rows)
                   : g.format == "csv" ? report::table_csv(rows)
                   : g.format == "json"
                       ? report::table_json(rows)
                       : report::table_terminal(rows, width_of(stdout), language::english,
                                                style_of(screen_of(stdout))));
  return 0;
}

}  // namespace

command_action report_command(CLI::App& app, const context&) {
  const auto g = std::make_shared<report_options>();
  app.add_option("runs", g->runs, "run folders: one for a report, several for a table")
      ->type_name("RUN")
      ->required();
  declare_format(app, g->format,
                 "text, md (for a pull request), json, csv, junit, html, or faults: the matrix of "
                 "scenarios by locks",
                 {"text", "md", "json", "csv", "junit", "html", "faults"});
  app.add_flag("--timeline", g->timeline, "with --format csv: the course of one run");
  declare(app, "--out", g->out, "FILE", "file for the HTML report; without it, stdout");
  return [g] {
    if (g->format == "html") return write_html(*g);
    if (!g->out.empty()) throw usage_error("--out: is for --format html; others go to stdout");
    return print_report(*g);
  };
}

}  // namespace lockmark::cli
