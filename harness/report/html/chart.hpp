// A chart as the page's scripts draw it (charts.js, heatmap.js), with the same numbers as a table
// for those who have no scripts, or want the numbers.
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
  table numbers;  // one row at least
};

// Collects the data of all charts of a page.
class chart_sheet {
 public:
  // The markup of a chart. One without a row of numbers has nothing to draw: nothing.
  std::string place(chart c);
  // The data of all that were placed, by their ids, as JSON that is safe inside <script>.
  std::string data() const;

 private:
  json charts_ = json::object();
};

// JSON that cannot end the <script> element that it stands in, nor begin a comment there.
std::string safe_json(const json& value);

}  // namespace lockmark::report::html
