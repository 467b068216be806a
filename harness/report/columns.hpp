// The columns of the comparison table for people, in Markdown and on a terminal, and what is said
// below it.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/report/figures.hpp"
#include "harness/report/language.hpp"
#include "harness/report/row.hpp"
#include "harness/report/style.hpp"

namespace lockmark::report {

// Reasons against rows, numbered in the order of the first of each kind.
class footnotes {
 public:
  explicit footnotes(language in) : in_(in) {}

  // " [1]", or nothing.
  std::string mark(const row& r);
  const std::vector<std::string>& all() const { return all_; }

 private:
  language in_;
  std::vector<std::string> all_;
};

struct column {
  std::string head;
  int keep;  // columns with lower values are left out first; `always_shown` never
  bool left_aligned = true;
  std::function<std::string(const row&)> text;
  const figure* of = nullptr;  // null: not a figure
  bool has_notes = false;      // shows the numbers of the footnotes
};

// Which figures have "(lowest–highest)" behind them, in a row of several runs.
enum class intervals { all, of_speed, none };

std::vector<column> columns(const std::vector<row>& rows, language in,
                            intervals with = intervals::all);
// A terminal is narrow, and has a heading for each scenario.
std::vector<column> columns_for_terminal(const std::vector<row>& rows, language in, intervals with);

std::string or_dash(const std::string& text);
tone shade_of(const column& c, const row& r);
// What the cells mean, a paragraph each, in English.
std::vector<std::string_view> legends_of(const std::vector<row>& rows, intervals with);

}  // namespace lockmark::report
