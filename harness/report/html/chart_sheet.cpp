#include <utility>

#include "harness/report/html/charts.hpp"

namespace lockmark::report::html {
namespace {

// Longer tables are folded. With scripts, which then show the chart, every table is.
constexpr std::size_t most_rows_unfolded = 12;

}  // namespace

json chart_sheet::place(json shown, json drawn) {
  if (shown["rows"].empty()) return {};
  charts_[shown["id"].get<std::string>()] = std::move(drawn);
  shown["short"] = shown["rows"].size() <= most_rows_unfolded;
  return shown;
}

std::string chart_sheet::data() const {
  return safe_json(charts_);
}

std::string safe_json(const json& value) {
  std::string safe;
  for (const char c : value.dump(-1, ' ', true, json::error_handler_t::replace)) {
    safe += c == '<' ? std::string("\\u003c") : std::string(1, c);
  }
  return safe;
}

json numbers_row(std::string name, std::vector<std::string> cells) {
  return {{"name", std::move(name)}, {"cells", std::move(cells)}};
}

}  // namespace lockmark::report::html
