#include "harness/report/html/chart.hpp"

#include <fmt/format.h>

namespace lockmark::report::html {
namespace {

// Longer tables are folded. With scripts, which then show the chart, every table is.
constexpr std::size_t most_rows_unfolded = 12;

}  // namespace

std::string chart_sheet::place(chart c) {
  if (c.numbers.rows() == 0) return {};
  charts_[c.id] = std::move(c.data);
  return fmt::format(
      "<figure>\n<figcaption><h3>{}</h3>{}</figcaption>\n<div class=plot data-chart=\"{}\"></div>\n"
      "<details class=numbers{}><summary>Numbers: {}</summary>\n{}</details>\n</figure>\n",
      escaped(c.title), c.note.empty() ? "" : paragraph(c.note), escaped(c.id),
      c.numbers.rows() <= most_rows_unfolded ? " open" : "", escaped(c.title), c.numbers.html());
}

std::string chart_sheet::data() const {
  return safe_json(charts_);
}

std::string safe_json(const json& value) {
  const std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

}  // namespace lockmark::report::html
