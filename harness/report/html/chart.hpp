// A chart drawn by the page's scripts (charts.js, heatmap.js), with the same numbers as a table for
// readers who have no scripts, or want the numbers.
#pragma once

#include <string>
#include <vector>

#include "harness/report/html/look.hpp"
#include "harness/report/html/markup.hpp"

namespace lockmark::report::html {

struct chart {
  std::string id;     // unique in the page, fit for an attribute
  std::string title;  // text, as is `note`: how to read it, in a sentence or two
  std::string note;
  json data;      // "kind" names the function that draws it: report.draw[kind] of the scripts
  table numbers;  // at least one row
};

// Collects the data of all charts of a page.
class chart_sheet {
 public:
  // The markup of a chart; empty for a chart without numbers.
  std::string place(chart c);
  // The data of all placed charts, by id, as JSON that is safe inside <script>.
  std::string data() const;

 private:
  json charts_ = json::object();
};

// JSON that can neither end its <script> element nor begin a comment there.
std::string safe_json(const json& value);

}  // namespace lockmark::report::html
