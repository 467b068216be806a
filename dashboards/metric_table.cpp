#include "dashboards/metric_table.hpp"

#include <sstream>
#include <vector>

namespace lockmark::dashboards {
namespace {

// "a|b|c" of "| a | b | c |", with the blanks around the cells.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream in(line.substr(1));
  for (std::string cell; std::getline(in, cell, '|');) cells.push_back(cell);
  return cells;
}

// The texts between backquotes, in order.
std::vector<std::string> quoted_in(std::string_view cell) {
  std::vector<std::string> found;
  for (;;) {
    const auto begin = cell.find('`');
    const auto end = begin == cell.npos ? cell.npos : cell.find('`', begin + 1);
    if (end == cell.npos) return found;
    found.emplace_back(cell.substr(begin + 1, end - begin - 1));
    cell.remove_prefix(end + 1);
  }
}

// "`phase`: `response`, `service`" is a label with its values, "`run`, `target`" are two labels,
// "`fault`: kind of the fault" is one with open-ended values; a semicolon ends a label.
void add_labels(metric& m, std::string_view cell) {
  if (const auto end = cell.find(';'); end != cell.npos) {
    add_labels(m, cell.substr(0, end));
    return add_labels(m, cell.substr(end + 1));
  }
  const std::vector<std::string> words = quoted_in(cell);
  if (words.empty()) return;
  if (cell.find(':') == cell.npos) {
    for (const std::string& label : words) m.labels[label];
  } else {
    m.labels[words[0]].insert(words.begin() + 1, words.end());
  }
}

}  // namespace

metric_table parse_metric_table(std::string_view markdown) {
  metric_table all;
  std::istringstream lines{std::string(markdown)};
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `lockmark_")) continue;
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() < 5) continue;
    const std::string name = quoted_in(cells[0]).at(0);
    metric& m = all[name];
    m.is_histogram = cells[1].find("histogram") != std::string::npos;
    add_labels(m, cells[3]);
    for (const char* label : {"instance", "job"}) m.labels[label];
    if (m.is_histogram) m.labels["le"];
    if (name == "lockmark_build_info") continue;
    for (const char* label : {"backend", "lock", "topology", "scenario"}) m.labels[label];
  }
  return all;
}

const metric* find_metric(const metric_table& all, std::string_view name) {
  if (const auto it = all.find(name); it != all.end()) return &it->second;
  for (const std::string_view suffix : {"_bucket", "_sum", "_count"}) {
    if (!name.ends_with(suffix)) continue;
    const auto it = all.find(name.substr(0, name.size() - suffix.size()));
    if (it != all.end() && it->second.is_histogram) return &it->second;
  }
  return nullptr;
}

}  // namespace lockmark::dashboards
