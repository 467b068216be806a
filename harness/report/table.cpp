#include "harness/report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "harness/base/lists.hpp"
#include "harness/report/markdown.hpp"
#include "harness/report/text.hpp"

namespace lockmark::report {
namespace {

using json = nlohmann::ordered_json;

constexpr std::string_view legend =
    "Acquire times are responses of all attempts; > T: not granted within T; -: too few samples or "
    "not known; >= and <=: the harness was the limit. Hand-off: from a release to the grant of "
    "another client. Fairness: Jain's index in short windows, 1 is even.";

constexpr std::string_view legend_of_recovery =
    "Next grant: from the death of a holder to the grant of another client; > T: none until the "
    "run ended.";

constexpr std::string_view legend_without_ranks =
    "A row is the median of its runs, with the lowest and the highest.";
constexpr std::string_view legend_with_ranks =
    "A row is the median of its runs, with the lowest and the highest. Equal ranks: no row is "
    "faster "
    "beyond these intervals.";

// Reasons against rows, numbered in the order of the first of each kind.
class footnotes {
 public:
  explicit footnotes(language in) : in_(in) {}

  // " [1]", or nothing.
  std::string mark(const row& r) {
    if (r.reasons.empty()) return "";
    const std::string note = fmt::format("{}", fmt::join(texts_of(r.reasons, in_), "; "));
    auto at = std::find(all_.begin(), all_.end(), note);
    if (at == all_.end()) at = all_.insert(all_.end(), note);
    return fmt::format(" [{}]", at - all_.begin() + 1);
  }
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

std::string state_text(const row& r) {
  if (!r.complete) return "incomplete";
  return r.valid ? "yes" : "INVALID";
}

std::string or_dash(const std::string& text) {
  return text.empty() ? "-" : text;
}

// " (165–180)" for a row of several runs.
std::string interval_text(const figure& f, const row& r) {
  const std::optional<interval>& all = r.interval_of(f);
  if (!all || r.bound) return "";
  return fmt::format(" ({}–{})", cell_text(f, {all->low}), cell_text(f, {all->high}));
}

// The figures that a reader compares rows by, and on a terminal the first of them.
bool has_interval(const figure& f, bool narrow) {
  if (narrow) return f.name == "tps";
  return !f.column.head.empty() && (f.in == unit::rate || f.in == unit::time);
}

void add_figures(std::vector<column>& columns, const std::vector<row>& rows, bool of_verdict,
                 language in, bool narrow) {
  for (const figure& f : figures()) {
    if (f.column.head.empty() || f.of_verdict != of_verdict) continue;
    const auto is_known = [&f](const row& r) { return r[f.name].value.has_value(); };
    if (f.column.if_known && std::ranges::none_of(rows, is_known)) continue;
    const std::string_view head = in == language::chinese ? f.column.chinese : f.column.head;
    columns.push_back({std::string(head), f.column.keep, false,
                       [&f, shows = has_interval(f, narrow)](const row& r) {
                         return cell_text(f, r[f.name], r.bound) +
                                (shows ? interval_text(f, r) : "");
                       },
                       &f});
  }
}

bool has_ranks(const std::vector<row>& rows) {
  return std::ranges::any_of(rows, [](const row& r) { return r.rank.has_value(); });
}

// `narrow`: for a terminal.
std::vector<column> columns(const std::vector<row>& rows, language in, bool narrow = false) {
  const auto head = [in](std::string_view english) { return translated(english, in); };
  std::vector<column> all{
      {head("lock"), always_shown, true, [](const row& r) { return r.lock; }},
      {head("cluster mode"), 2, true, [](const row& r) { return or_dash(r.topology); }},
      {head("implementation"), 1, true, [](const row& r) { return or_dash(r.implementation); }},
      {head("scenario"), always_shown, true,
       [in](const row& r) { return translated(or_dash(r.scenario), in); }}};
  if (has_ranks(rows)) {
    all.insert(all.begin(), {head("rank"), always_shown, false, [](const row& r) {
                               return r.rank ? fmt::format("{}", *r.rank) : "-";
                             }});
  }
  add_figures(all, rows, false, in, narrow);
  all.push_back(
      {head("safety"), 8, true, [in](const row& r) { return translated(r.safety_class, in); }});
  all.push_back({head("durability"), 2, true,
                 [in](const row& r) { return translated(or_dash(r.durability), in); }});
  add_figures(all, rows, true, in, narrow);
  all.push_back({head("valid"), always_shown, true,
                 [in](const row& r) { return translated(state_text(r), in); }, nullptr, true});
  return all;
}

// A terminal is narrow, and has a heading for each scenario.
std::vector<column> columns_for_terminal(const std::vector<row>& rows, language in) {
  std::vector<column> all = columns(rows, in, true);
  std::erase_if(all, [in](const column& c) { return c.head == translated("scenario", in); });
  for (column& c : all) {
    const bool is_short = c.of != nullptr && !c.of->column.narrow.empty();
    if (is_short && in == language::english) c.head = c.of->column.narrow;
  }
  return all;
}

tone shade_of(const column& c, const row& r) {
  if (c.has_notes) return r.valid ? tone::plain : tone::doubtful;
  const bool alarms = c.of != nullptr && c.of->of_verdict && r[c.of->name].value.value_or(0) > 0;
  return alarms ? tone::bad : tone::plain;
}

// What the intervals and ranks mean; empty without them.
std::string_view legend_of_repeats(const std::vector<row>& rows) {
  const bool repeated = std::ranges::any_of(rows, [](const row& r) { return !r.runs.empty(); });
  if (!repeated) return "";
  return has_ranks(rows) ? legend_with_ranks : legend_without_ranks;
}

// What the column of recoveries means; empty without it.
std::string_view legend_of_deaths(const std::vector<row>& rows) {
  const auto has_one = [](const row& r) { return r["recovery"].value.has_value(); };
  return std::ranges::any_of(rows, has_one) ? legend_of_recovery : "";
}

using field = std::pair<std::string_view, json>;

void add_csv(std::vector<field>& fields, const row& r, bool of_verdict) {
  for (const figure& f : figures()) {
    if (f.csv.empty() || f.of_verdict != of_verdict) continue;
    fields.emplace_back(f.csv, value_json(f, r[f.name]));
  }
}

std::vector<field> csv_fields(const row& r) {
  std::vector<field> fields{{"lock", r.lock},
                            {"topology", r.topology},
                            {"implementation", r.implementation},
                            {"scenario", r.scenario}};
  add_csv(fields, r, false);
  fields.emplace_back("safety_class", r.safety_class);
  fields.emplace_back("durability", r.durability.empty() ? json() : json(r.durability));
  add_csv(fields, r, true);
  fields.emplace_back("valid", r.valid);
  fields.emplace_back("bound", r.bound);
  fields.emplace_back("complete", r.complete);
  fields.emplace_back("reasons", fmt::format("{}", fmt::join(texts_of(r.reasons), "; ")));
  fields.emplace_back("run", r.run);
  fields.emplace_back("runs", r.runs.empty() ? 1 : r.runs.size());
  const std::optional<interval>& tps = r.interval_of(known_figure("tps"));
  fields.emplace_back("tps_low", tps ? json(tps->low) : json());
  fields.emplace_back("tps_high", tps ? json(tps->high) : json());
  fields.emplace_back("rank", r.rank ? json(*r.rank) : json());
  return fields;
}

void add_json(json& one, const row& r, bool of_verdict) {
  for (const figure& f : figures()) {
    if (f.json.empty() || f.of_verdict != of_verdict) continue;
    one[json::json_pointer(std::string(f.json))] = value_json(f, r[f.name]);
  }
}

void add_repeats(json& one, const row& r) {
  one["runs"] = r.runs;
  one["rank"] = r.rank ? json(*r.rank) : json();
  json& all = one["intervals"] = json::object();
  for (const figure& f : figures()) {
    const std::optional<interval>& i = r.interval_of(f);
    if (i && !f.csv.empty()) all[std::string(f.csv)] = {i->low, i->high};
  }
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
  // Removes the least important column and returns its head; nothing if all are needed.
  std::string leave_one_out() {
    const auto least =
        std::min_element(shown.begin(), shown.end(),
                         [](const column& a, const column& b) { return a.keep < b.keep; });
    if (least == shown.end() || least->keep == always_shown) return {};
    const auto at = least - shown.begin();
    const std::string head = least->head;
    shown.erase(least);
    for (auto& line : cells) line.erase(line.begin() + at);
    return head;
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

std::string overview_lines(const std::vector<row>& rows, const std::string& scenario,
                           const std::vector<std::string>& topologies) {
  std::vector<row> its;
  std::ranges::copy_if(rows, std::back_inserter(its),
                       [&](const row& r) { return r.scenario == scenario; });
  const figure& tps = known_figure("tps");
  std::string text;
  for (const std::string& lock : distinct(its, name_with_options)) {
    text += fmt::format("| {} |", markdown_text(lock));
    for (const std::string& topology : topologies) {
      const auto cell = std::ranges::find_if(its, [&](const row& r) {
        return r.topology == topology && name_with_options(r) == lock;
      });
      text += fmt::format(" {} |",
                          cell == its.end() ? "-" : cell_text(tps, (*cell)[tps.name], cell->bound));
    }
    text += "\n";
  }
  return text;
}

std::string paragraph(std::string_view text, std::size_t width) {
  std::string lines;
  for (const std::string& line : wrapped(text, width)) lines += line + "\n";
  return lines;
}

}  // namespace

std::string table_markdown(const std::vector<row>& rows, language in) {
  footnotes notes(in);
  const std::vector<column> shown = columns(rows, in);
  std::string head = "|", rule = "|", body;
  for (const column& c : shown) {
    head += fmt::format(" {} |", c.head);
    rule += c.left_aligned ? " --- |" : " ---: |";
  }
  for (const row& r : rows) {
    body += "|";
    for (const column& c : shown) {
      body += fmt::format(" {}{} |", markdown_text(c.text(r)), c.has_notes ? notes.mark(r) : "");
    }
    body += "\n";
  }
  std::string text = fmt::format("{}\n{}\n{}\n", head, rule, body);
  for (const std::string_view line : {legend, legend_of_deaths(rows), legend_of_repeats(rows)}) {
    if (!line.empty()) text += fmt::format("{}\n", translated(line, in));
  }
  if (!notes.all().empty()) text += "\n";
  for (std::size_t n = 0; n < notes.all().size(); ++n) {
    text += fmt::format("{}. {}\n", n + 1, markdown_text(notes.all()[n]));
  }
  return text;
}

std::string table_csv(const std::vector<row>& rows) {
  std::string text = joined(csv_fields(row{}), &field::first, ",") + "\r\n";
  const auto cell = [](const field& f) { return csv_cell(f.second); };
  for (const row& r : rows) text += joined(csv_fields(r), cell, ",") + "\r\n";
  return text;
}

std::string table_json(const std::vector<row>& rows) {
  json all = json::array();
  for (const row& r : rows) {
    json one{{"lock", r.lock}, {"topology", r.topology}, {"scenario", r.scenario}};
    add_json(one, r, false);
    one["safety_class"] = r.safety_class;
    one["durability"] = r.durability.empty() ? json() : json(r.durability);
    add_json(one, r, true);
    one["valid"] = r.valid;
    one["reasons"] = texts_of(r.reasons);
    one["bound"] = r.bound;
    one["run"] = r.run;
    if (!r.runs.empty()) add_repeats(one, r);
    all.push_back(std::move(one));
  }
  return all.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string overview_markdown(const std::vector<row>& rows, language in) {
  const auto topologies = distinct(rows, &row::topology);
  std::string text;
  for (const std::string& scenario : distinct(rows, &row::scenario)) {
    const std::string title = text_of({"tps_by_lock", {translated(scenario, in)}}, in);
    text += fmt::format("**{}**\n\n| {} |", title, translated("lock", in));
    for (const std::string& t : topologies) text += fmt::format(" {} |", t);
    text += "\n| --- |";
    for (std::size_t i = 0; i < topologies.size(); ++i) text += " ---: |";
    text += "\n" + overview_lines(rows, scenario, topologies) + "\n";
  }
  return text + translated("-: the lock does not run there.", in) + "\n";
}

std::string table_terminal(const std::vector<row>& rows, std::size_t width, language in,
                           const style& look, bool wide) {
  footnotes notes(in);
  grid g{columns_for_terminal(rows, in), {}};
  for (const row& r : rows) {
    std::vector<std::string>& cells = g.cells.emplace_back();
    for (const column& c : g.shown) cells.push_back(c.text(r));
    cells.back() += notes.mark(r);
  }
  std::string left_out;
  while (!wide && g.width() > width) {
    const std::string head = g.leave_one_out();
    if (head.empty()) break;
    left_out += fmt::format("{}{}", left_out.empty() ? "" : ", ", head);
  }
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
  for (const std::string_view line : {legend, legend_of_deaths(rows), legend_of_repeats(rows)}) {
    if (!line.empty()) text += paragraph(translated(line, in), width);
  }
  if (!left_out.empty()) {
    text += paragraph(fmt::format("Not shown for lack of width, but with --wide: {}.", left_out),
                      width);
  }
  for (std::size_t n = 0; n < notes.all().size(); ++n) {
    text += paragraph(fmt::format("[{}] {}", n + 1, notes.all()[n]), width);
  }
  return text;
}

}  // namespace lockmark::report
