#include "harness/report/html/page.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "harness/report/html/assets.hpp"
#include "harness/report/html/chart.hpp"
#include "harness/report/html/parts.hpp"
#include "harness/report/html/subject.hpp"

namespace lockmark::report::html {
namespace {

namespace fs = std::filesystem;

// Total stretches of time of all runs; bounds the size of a page with many runs.
constexpr std::size_t stretches_in_all = 2400;
constexpr std::size_t most_stretches = 240;
constexpr std::size_t fewest_stretches = 10;
// With more runs, each part has no charts of its own.
constexpr std::size_t most_in_full = 40;

// Allows only what the file itself contains.
constexpr std::string_view policy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

std::vector<subject> read_all(const std::vector<fs::path>& runs) {
  const std::size_t each =
      std::clamp(stretches_in_all / runs.size(), fewest_stretches, most_stretches);
  std::vector<subject> subjects;
  for (const fs::path& path : runs) subjects.push_back(read_subject(path, each));
  return subjects;
}

// In the table's order. Rows carry a number as name here, since folders may have equal names.
void rank(std::vector<subject>& subjects) {
  std::vector<row> rows;
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    rows.push_back(subjects[i].in_table);
    rows.back().run = std::to_string(i);
  }
  std::vector<subject> sorted;
  for (const row& r : ranked(std::move(rows))) {
    sorted.push_back(std::move(subjects[std::stoul(r.run)]));
  }
  subjects = std::move(sorted);
}

std::string sentence_about(const subject& s) {
  const auto text = [&](std::initializer_list<const char*> path) { return shown(s.at(path)); };
  return fmt::format(
      "{} on {}; {} loop, instances: {}, clients of each: {}, keys: {}; begun {}",
      s.in_table.implementation.empty() ? s.in_table.lock : s.in_table.implementation,
      text({"run", "target"}), text({"run", "loop"}), text({"run", "instances"}),
      text({"run", "clients_per_instance"}), text({"run", "keys"}), text({"run", "started_utc"}));
}

std::string title_of(const subject& s) {
  const std::string& scenario = s.in_table.scenario;
  return scenario.empty() ? s.label : fmt::format("{}, {}", s.label, scenario);
}

std::string one_run(const subject& s, chart_sheet& sheet) {
  return fmt::format("<header><h1>{}</h1>\n{}</header>\n<main>\n{}</main>\n", escaped(title_of(s)),
                     paragraph(sentence_about(s)), run_part(s, sheet));
}

std::string several_runs(const std::vector<subject>& subjects, chart_sheet& sheet) {
  std::string each;
  const bool in_full = subjects.size() <= most_in_full;
  for (const subject& s : subjects) {
    each += fmt::format(
        "<details class=run id=\"{}\"><summary>{} <span class={}>{}</span></summary>\n{}{}"
        "</details>\n",
        s.id, escaped(title_of(s)), state_of(s).empty() || state_of(s) == "bound" ? "ok" : "alarm",
        fmt::format("{}, {}", held_word(s), figures_word(s)), paragraph(sentence_about(s)),
        in_full ? run_part(s, sheet) : brief_run_part(s));
  }
  return fmt::format("<header><h1>{} runs</h1></header>\n<main>\n{}{}{}{}</main>\n",
                     subjects.size(), overview_banner(subjects),
                     section("Side by side", comparison_table(subjects) + remarks_of(subjects)),
                     shared_charts(subjects, sheet), section("Each run", each));
}

std::string footer() {
  return fmt::format(
      "<footer>\n<p>Written by lockmark {}. Charts: Chart.js {}, MIT licence, &copy; Chart.js "
      "contributors; it stands in this file.</p>\n</footer>\n",
      escaped(lockmark_version), escaped(chart_js_version));
}

std::string script(std::string_view code) {
  return fmt::format("<script>\n{}\n</script>\n", code);
}

}  // namespace

std::string page(const std::vector<fs::path>& runs, order in) {
  std::vector<subject> subjects = read_all(runs);
  if (in == order::ranked) rank(subjects);
  name_apart(subjects);
  chart_sheet sheet;
  const bool alone = subjects.size() == 1;
  const std::string body = alone ? one_run(subjects[0], sheet) : several_runs(subjects, sheet);
  const std::string title = alone ? title_of(subjects[0]) : fmt::format("{} runs", subjects.size());
  std::string text = fmt::format(
      "<!DOCTYPE html>\n<html lang=en class=no-js>\n<head>\n<meta charset=utf-8>\n"
      "<meta http-equiv=Content-Security-Policy content=\"{}\">\n"
      "<meta name=viewport content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=color-scheme content=\"light dark\">\n<link rel=icon href=\"data:,\">\n"
      "<title>lockmark: {}</title>\n<style>\n{}</style>\n</head>\n<body>\n{}{}",
      policy, escaped(title), report_css, body, footer());
  text +=
      fmt::format("<script type=\"application/json\" id=report-data>{}</script>\n", sheet.data());
  for (const std::string_view code : {chart_js, format_js, charts_js, heatmap_js, report_js}) {
    text += script(code);
  }
  return text + "</body>\n</html>\n";
}

}  // namespace lockmark::report::html
