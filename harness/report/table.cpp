#include "harness/report/table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/report/markdown.hpp"
#include "harness/report/text.hpp"

namespace lockmark::report {
namespace {

using json = nlohmann::ordered_json;

constexpr std::string_view legend =
    "Acquire times are responses of all attempts; > T: not granted within T; -: too few samples or "
    "not known; >= and <=: the harness was the limit. Hand-off: from a release to the grant of "
    "another client. Fairness: Jain's index in short windows, 1 is even.";

// What is wrong with rows, numbered in the order of the first of each kind.
class footnotes {
 public:
  explicit footnotes(language in) : in_(in) {}

  // " [1]", or nothing.
  std::string mark(const row& r) {
    if (r.reasons.empty()) return "";
    std::vector<std::string> reasons;
    for (const std::string& reason : r.reasons) reasons.push_back(translated(reason, in_));
    const std::string note = fmt::format("{}", fmt::join(reasons, "; "));
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
  std::string_view head;
  int keep;  // the higher, the later it is left out; `always` never
  bool left_aligned;
  std::string (*text)(const row&);
  tone (*shade)(const row&) = nullptr;
};
constexpr int always = 100;

std::string tps_text(const row& r) {
  if (!r.tps) return "-";
  return fmt::format("{}{}", r.bound ? ">= " : "", rate_text(*r.tps));
}

std::string state_text(const row& r) {
  if (!r.complete) return "incomplete";
  return r.valid ? "yes" : "INVALID";
}

std::string or_dash(const std::string& text) {
  return text.empty() ? "-" : text;
}

std::vector<column> columns() {
  return {
      {"lock", always, true, [](const row& r) { return r.lock; }},
      {"cluster mode", 2, true, [](const row& r) { return or_dash(r.topology); }},
      {"implementation", 1, true, [](const row& r) { return or_dash(r.implementation); }},
      {"scenario", always, true, [](const row& r) { return or_dash(r.scenario); }},
      {"success", 9, false,
       [](const row& r) { return r.success_rate ? share_text(*r.success_rate) : "-"; }},
      {"TPS", always, false, tps_text},
      {"samples", 7, false, [](const row& r) { return std::to_string(r.samples); }},
      {"p50", 12, false, [](const row& r) { return time_text(r.p50, r.bound); }},
      {"p99", 11, false, [](const row& r) { return time_text(r.p99, r.bound); }},
      {"p99.9", 6, false, [](const row& r) { return time_text(r.p999, r.bound); }},
      {"hand-off", 10, false,
       [](const row& r) {
         return r.handoff_p50_ns ? time_text(time_value{*r.handoff_p50_ns, false}, r.bound) : "-";
       }},
      {"fairness", 8, false, [](const row& r) { return number_text(r.fairness, 2); }},
      {"commands", 5, false, [](const row& r) { return number_text(r.commands_per_acquire, 2); }},
      {"safety", 4, true, [](const row& r) { return r.safety_class; }},
      {"violations", always, false,
       [](const row& r) { return r.violations ? std::to_string(*r.violations) : "-"; },
       [](const row& r) { return r.violations.value_or(0) > 0 ? tone::bad : tone::plain; }},
      {"valid", always, true, state_text,
       [](const row& r) { return r.valid ? tone::plain : tone::doubtful; }},
  };
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

json time_json(const std::optional<time_value>& t) {
  if (!t) return {};
  return t->censored ? json(fmt::format("> {}", t->ns)) : json(t->ns);
}

template <class T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json();
}

std::string raw(const json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// Cells of a table for the terminal, and how wide their columns must be.
struct grid {
  std::vector<column> shown;
  std::vector<std::vector<std::string>> cells;
  language in;

  std::string shown_head(std::size_t c) const { return translated(shown[c].head, in); }

  std::size_t width_of(std::size_t c) const {
    std::size_t width = display_width(shown_head(c));
    for (const auto& line : cells) width = std::max(width, display_width(line[c]));
    return width;
  }
  std::size_t width() const {
    std::size_t sum = 0;
    for (std::size_t c = 0; c < shown.size(); ++c) sum += width_of(c) + (c > 0 ? 2 : 0);
    return sum;
  }
  // Returns the head of the least important column, taken out; nothing if all are needed.
  std::string_view leave_one_out() {
    const auto least =
        std::min_element(shown.begin(), shown.end(),
                         [](const column& a, const column& b) { return a.keep < b.keep; });
    if (least == shown.end() || least->keep == always) return {};
    const auto at = least - shown.begin();
    const std::string_view head = least->head;
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

// A lock with an option of its own is a lock of its own.
std::string name_in_overview(const row& r) {
  const auto option = r.implementation.rfind(" [");
  return option == std::string::npos ? r.lock : r.lock + r.implementation.substr(option);
}

std::string overview_lines(const std::vector<row>& rows, const std::string& scenario,
                           const std::vector<std::string>& topologies) {
  std::vector<std::string> locks;
  for (const row& r : rows) {
    const std::string name = name_in_overview(r);
    const bool seen = std::find(locks.begin(), locks.end(), name) != locks.end();
    if (r.scenario == scenario && !seen) locks.push_back(name);
  }
  std::string text;
  for (const std::string& lock : locks) {
    text += fmt::format("| {} |", markdown_text(lock));
    for (const std::string& topology : topologies) {
      const auto cell = std::find_if(rows.begin(), rows.end(), [&](const row& r) {
        return r.scenario == scenario && r.topology == topology && name_in_overview(r) == lock;
      });
      text += fmt::format(" {} |", cell == rows.end() ? "-" : tps_text(*cell));
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
  std::string head = "|", rule = "|", body;
  for (const column& c : columns()) {
    head += fmt::format(" {} |", translated(c.head, in));
    rule += c.left_aligned ? " --- |" : " ---: |";
  }
  for (const row& r : rows) {
    body += "|";
    for (const column& c : columns()) {
      const std::string mark = c.head == "valid" ? notes.mark(r) : "";
      body += fmt::format(" {}{} |", markdown_text(translated(c.text(r), in)), mark);
    }
    body += "\n";
  }
  std::string text = fmt::format("{}\n{}\n{}\n{}\n", head, rule, body, translated(legend, in));
  if (!notes.all().empty()) text += "\n";
  for (std::size_t n = 0; n < notes.all().size(); ++n) {
    text += fmt::format("{}. {}\n", n + 1, markdown_text(notes.all()[n]));
  }
  return text;
}

std::string table_csv(const std::vector<row>& rows) {
  std::string text =
      "lock,topology,implementation,scenario,success_rate,tps,samples,p50_ns,p90_ns,p99_ns,p999_ns,"
      "max_ns,handoff_p50_ns,fairness,commands_per_acquire,safety_class,violations,valid,bound,"
      "complete,reasons,run\r\n";
  for (const row& r : rows) {
    const std::string reasons = fmt::format("{}", fmt::join(r.reasons, "; "));
    const std::vector<json> cells{r.lock,
                                  r.topology,
                                  r.implementation,
                                  r.scenario,
                                  or_null(r.success_rate),
                                  or_null(r.tps),
                                  r.samples,
                                  time_json(r.p50),
                                  time_json(r.p90),
                                  time_json(r.p99),
                                  time_json(r.p999),
                                  time_json(r.max),
                                  or_null(r.handoff_p50_ns),
                                  or_null(r.fairness),
                                  or_null(r.commands_per_acquire),
                                  r.safety_class,
                                  or_null(r.violations),
                                  r.valid,
                                  r.bound,
                                  r.complete,
                                  reasons,
                                  r.run};
    for (std::size_t c = 0; c < cells.size(); ++c) {
      if (c > 0) text += ",";
      text += csv_cell(raw(cells[c]));
    }
    text += "\r\n";
  }
  return text;
}

std::string table_json(const std::vector<row>& rows) {
  json all = json::array();
  for (const row& r : rows) {
    all.push_back({{"lock", r.lock},
                   {"topology", r.topology},
                   {"scenario", r.scenario},
                   {"success_rate", or_null(r.success_rate)},
                   {"tps", or_null(r.tps)},
                   {"samples", r.samples},
                   {"acquire_ns",
                    {{"p50", time_json(r.p50)},
                     {"p90", time_json(r.p90)},
                     {"p99", time_json(r.p99)},
                     {"p999", time_json(r.p999)},
                     {"max", time_json(r.max)}}},
                   {"handoff_ns", or_null(r.handoff_p50_ns)},
                   {"fairness", or_null(r.fairness)},
                   {"commands_per_acquire", or_null(r.commands_per_acquire)},
                   {"safety_class", r.safety_class},
                   {"violations", or_null(r.violations)},
                   {"valid", r.valid},
                   {"reasons", r.reasons},
                   {"bound", r.bound},
                   {"run", r.run}});
  }
  return all.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string overview_markdown(const std::vector<row>& rows, language in) {
  std::vector<std::string> scenarios, topologies;
  const auto once = [](std::vector<std::string>& seen, const std::string& name) {
    if (std::find(seen.begin(), seen.end(), name) == seen.end()) seen.push_back(name);
  };
  for (const row& r : rows) {
    once(scenarios, r.scenario);
    once(topologies, r.topology);
  }
  std::string text;
  for (const std::string& scenario : scenarios) {
    const std::string title =
        fmt::format("TPS by lock and cluster mode: {}", translated(scenario, in));
    text += fmt::format("**{}**\n\n| {} |", translated(title, in), translated("lock", in));
    for (const std::string& t : topologies) text += fmt::format(" {} |", t);
    text += "\n| --- |";
    for (std::size_t i = 0; i < topologies.size(); ++i) text += " ---: |";
    text += "\n" + overview_lines(rows, scenario, topologies) + "\n";
  }
  return text + translated("-: the lock does not run there.", in) + "\n";
}

std::string table_terminal(const std::vector<row>& rows, std::size_t width, language in,
                           const style& look) {
  footnotes notes(in);
  grid g{columns(), {}, in};
  std::erase_if(g.shown, [](const column& c) { return c.head == "scenario"; });
  for (column& c : g.shown) {
    if (c.head == "violations" && in == language::english) c.head = "viol.";
  }
  for (const row& r : rows) {
    std::vector<std::string>& cells = g.cells.emplace_back();
    for (const column& c : g.shown) cells.push_back(translated(c.text(r), in));
    cells.back() += notes.mark(r);
  }
  std::string left_out;
  while (g.width() > width) {
    const std::string_view head = g.leave_one_out();
    if (head.empty()) break;
    left_out += fmt::format("{}{}", left_out.empty() ? "" : ", ", head);
  }
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i == 0 || rows[i].scenario != rows[i - 1].scenario) {
      const std::string scenario = translated(or_dash(rows[i].scenario), in);
      text += fmt::format("{}{}\n", i > 0 ? "\n" : "", scenario);
      text += g.line([&](std::size_t c) { return g.shown_head(c); },
                     [](std::size_t, const std::string& cell) { return cell; });
    }
    const auto paint = [&](std::size_t c, const std::string& cell) {
      return look.paint(cell, g.shown[c].shade ? g.shown[c].shade(rows[i]) : tone::plain);
    };
    text += g.line([&](std::size_t c) -> const std::string& { return g.cells[i][c]; }, paint);
  }
  text += "\n";
  text += paragraph(translated(legend, in), width);
  if (!left_out.empty()) {
    text += paragraph(fmt::format("Not shown for lack of width: {}.", left_out), width);
  }
  for (std::size_t n = 0; n < notes.all().size(); ++n) {
    text += paragraph(fmt::format("[{}] {}", n + 1, notes.all()[n]), width);
  }
  return text;
}

}  // namespace lockmark::report
