#include "harness/report/html/markup.hpp"

#include <fmt/format.h>

namespace lockmark::report::html {
namespace {

bool stands_right(column kind) {
  return kind == column::number || kind == column::figures;
}

std::string cell(std::string_view element, const heading& h, const std::string& content) {
  const bool ready = h.kind == column::markup || h.kind == column::figures;
  return fmt::format("<{}{}>{}</{}>", element, stands_right(h.kind) ? " class=n" : "",
                     ready ? content : escaped(content), element.substr(0, 2));
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '"': safe += "&quot;"; break;
      case '\'': safe += "&#39;"; break;
      default: safe += c;
    }
  }
  return safe;
}

void table::add(std::vector<std::string> cells) {
  cells.resize(headings_.size());
  rows_.push_back(std::move(cells));
}

std::string table::html() const {
  std::string text = "<div class=wide><table>\n<thead><tr>";
  for (const heading& h : headings_) {
    text += cell("th scope=col", {h.text, stands_right(h.kind) ? column::number : column::text},
                 h.text);
  }
  text += "</tr></thead>\n<tbody>\n";
  for (const auto& row : rows_) {
    text += "<tr>";
    for (std::size_t c = 0; c < row.size(); ++c) {
      text += cell(c == 0 ? "th scope=row" : "td", headings_[c], row[c]);
    }
    text += "</tr>\n";
  }
  return text + "</tbody></table></div>\n";
}

std::string section(std::string_view title, const std::string& body) {
  if (body.empty()) return {};
  return fmt::format("<section>\n<h2>{}</h2>\n{}</section>\n", escaped(title), body);
}

std::string subsection(std::string_view title, const std::string& body) {
  if (body.empty()) return {};
  return fmt::format("<h3>{}</h3>\n{}", escaped(title), body);
}

std::string folded(std::string_view summary, const std::string& body) {
  return fmt::format("<details><summary>{}</summary>\n{}</details>\n", escaped(summary), body);
}

std::string paragraph(std::string_view text) {
  return fmt::format("<p>{}</p>\n", escaped(text));
}

std::string list(const std::vector<std::string>& texts) {
  if (texts.empty()) return {};
  std::string items;
  for (const std::string& text : texts) items += fmt::format("<li>{}</li>\n", escaped(text));
  return fmt::format("<ul>\n{}</ul>\n", items);
}

}  // namespace lockmark::report::html
