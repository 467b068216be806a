#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "harness/report/columns.hpp"
#include "harness/report/table.hpp"
#include "harness/report/text.hpp"

namespace lockmark::report {
namespace {

// A table without p50 and p99 is none.
bool may_go(const column& c) {
  if (c.of == nullptr) return c.keep < always_shown;
  return (c.of->of_verdict || c.of->q == 0) && c.of->name != "tps";
}

// Cells of a table for the terminal, and the column widths they need.
struct grid {
  std::vector<column> shown;
  std::vector<std::vector<std::string>> cells;

  std::size_t width_of(std::size_t c) const {
    std::size_t width = display_width(shown[c].head);
    for (const auto& line : cells) width = std::max(width, display_width(line[c]));
    return width;
  }
  std::size_t width() const {
    std::size_t sum = 0;
    for (std::size_t c = 0; c < shown.size(); ++c) sum += width_of(c) + (c > 0 ? 2 : 0);
    return sum;
  }
  void remove(std::size_t c) {
    shown.erase(shown.begin() + static_cast<std::ptrdiff_t>(c));
    for (auto& line : cells) line.erase(line.begin() + static_cast<std::ptrdiff_t>(c));
  }
  // Removes the least important column below `worth` and returns its head; nothing if there is
  // none.
  std::string leave_one_out(int worth) {
    const auto least = std::ranges::min_element(shown, {}, &column::keep);
    if (least == shown.end() || least->keep >= worth) return {};
    const std::string head = least->head;
    remove(static_cast<std::size_t>(least - shown.begin()));
    return head;
  }
  // Removes a column that is the same in every row, and no alarm; returns its head and what it is.
  std::string leave_out_what_is_the_same(const std::vector<row>& rows) {
    for (std::size_t c = 0; c < shown.size() && rows.size() > 1; ++c) {
      const bool is_same =
          std::ranges::all_of(cells, [&](const auto& line) { return line[c] == cells.front()[c]; });
      const bool alarms = shade_of(shown[c], rows.front()) != tone::plain;
      if (!may_go(shown[c]) || !is_same || alarms) continue;
      std::string said = fmt::format("{} {}", shown[c].head, cells.front()[c]);
      remove(c);
      return said;
    }
    return {};
  }
  // "<= 18.4 us" as "<=18.4us".
  void take_blanks_from_figures() {
    for (std::size_t c = 0; c < shown.size(); ++c) {
      if (shown[c].of == nullptr) continue;
      for (auto& line : cells) std::erase(line[c], ' ');
    }
  }
  // "yes [3]" as "[3]".
  void leave_only_marks(const std::string& of) {
    for (auto& line : cells) {
      if (line.back().starts_with(of + " [")) line.back().erase(0, of.size() + 1);
    }
  }
  // `paint(c, cell)`: the padded cell with its emphasis.
  template <class Cell, class Paint>
  std::string line(Cell cell, Paint paint) const {
    std::string text;
    for (std::size_t c = 0; c < shown.size(); ++c) {
      if (c > 0) text += "  ";
      text += paint(c, shown[c].left_aligned ? fmt::format("{:<{}}", cell(c), width_of(c))
                                             : fmt::format("{:>{}}", cell(c), width_of(c)));
    }
    return text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  }
};

std::string paragraph(std::string_view text, std::size_t width) {
  std::string lines;
  for (const std::string& line : wrapped(text, width)) lines += line + "\n";
  return lines;
}

// Columns from here on stay if the blanks within their figures can go instead.
constexpr int worth_more_than_blanks = 9;

// What of a table fits into the width, and what does not.
struct fitted {
  grid shown;
  std::vector<std::string> left_out;
  std::vector<std::string> same;  // in every row
  bool is_dense = false;          // there was no room for the blanks within figures
};

fitted fit(const std::vector<row>& rows, std::size_t width, language in, intervals with,
           footnotes& notes) {
  fitted f{{columns_for_terminal(rows, in, with), {}}, {}, {}, false};
  for (const row& r : rows) {
    std::vector<std::string>& cells = f.shown.cells.emplace_back();
    for (const column& c : f.shown.shown) cells.push_back(c.text(r));
    cells.back() += notes.mark(r);
  }
  const auto drop = [&](std::vector<std::string>& to, auto one) {
    for (std::string name; f.shown.width() > width && !(name = one()).empty();) {
      to.push_back(std::move(name));
    }
  };
  drop(f.same, [&] { return f.shown.leave_out_what_is_the_same(rows); });
  drop(f.left_out, [&] { return f.shown.leave_one_out(worth_more_than_blanks); });
  f.is_dense = f.shown.width() > width;
  if (f.is_dense) f.shown.take_blanks_from_figures();
  drop(f.left_out, [&] { return f.shown.leave_one_out(always_shown); });
  if (f.shown.width() > width) f.shown.leave_only_marks(translated("yes", in));
  return f;
}

}  // namespace

std::string table_terminal(const std::vector<row>& rows, std::size_t width, language in,
                           const style& look, bool wide) {
  footnotes notes(in);
  const std::size_t room = wide ? std::numeric_limits<std::size_t>::max() : width;
  intervals with = intervals::of_speed;
  fitted f = fit(rows, room, in, with, notes);
  if (f.is_dense) f = fit(rows, room, in, with = intervals::none, notes);
  const grid& g = f.shown;
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i == 0 || rows[i].scenario != rows[i - 1].scenario) {
      const std::string scenario = translated(or_dash(rows[i].scenario), in);
      text += fmt::format("{}{}\n", i > 0 ? "\n" : "", scenario);
      text += g.line([&](std::size_t c) { return g.shown[c].head; },
                     [](std::size_t, const std::string& cell) { return cell; });
    }
    const auto paint = [&](std::size_t c, const std::string& cell) {
      return look.paint(cell, shade_of(g.shown[c], rows[i]));
    };
    text += g.line([&](std::size_t c) -> const std::string& { return g.cells[i][c]; }, paint);
  }
  text += "\n";
  for (const std::string_view line : legends_of(rows, with)) {
    text += paragraph(translated(line, in), width);
  }
  if (!f.same.empty()) {
    text += paragraph(fmt::format("The same in every row: {}.", fmt::join(f.same, ", ")), width);
  }
  if (!f.left_out.empty()) {
    text += paragraph(fmt::format("Not shown for lack of width, but with --wide: {}.",
                                  fmt::join(f.left_out, ", ")),
                      width);
  }
  for (std::size_t n = 0; n < notes.all().size(); ++n) {
    text += paragraph(fmt::format("[{}] {}", n + 1, notes.all()[n]), width);
  }
  return text;
}

}  // namespace lockmark::report
