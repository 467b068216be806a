#include "harness/report/html/page.hpp"

#include <algorithm>

#include "harness/report/html/page_data.hpp"
#include "harness/report/html/template.hpp"

namespace lockmark::report::html {
namespace {

namespace fs = std::filesystem;

// Total stretches of time of all runs; bounds the size of a page with many runs.
constexpr std::size_t stretches_in_all = 2400;
constexpr std::size_t most_stretches = 240;
constexpr std::size_t fewest_stretches = 10;
// With more runs, each part has no charts of its own.
constexpr std::size_t most_in_full = 40;

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

}  // namespace

std::string page(const std::vector<fs::path>& runs, order in) {
  std::vector<subject> subjects = read_all(runs);
  if (in == order::ranked) rank(subjects);
  name_apart(subjects);
  chart_sheet sheet;
  json data;
  if (subjects.size() == 1) {
    data["alone"] = run_data(subjects[0], true, sheet);
  } else {
    json each = json::array();
    const bool in_full = subjects.size() <= most_in_full;
    for (const subject& s : subjects) each.push_back(run_data(s, in_full, sheet));
    data = overview_data(subjects, sheet);
    data["runs"] = std::move(each);
  }
  data["chart_data"] = sheet.data();
  for (const auto& [name, text] : assets) data[std::string(name)] = text;
  return filled("page", data) + "\n";
}

std::string filled(std::string_view name, const json& data) {
  return templates::filled({templates, templates::in_markup, formatted}, name, data);
}

}  // namespace lockmark::report::html
