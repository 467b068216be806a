#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "harness/base/errors.hpp"
#include "harness/base/lists.hpp"
#include "harness/report/run_text.hpp"
#include "harness/report/text.hpp"
#include "harness/run/tally.hpp"

namespace lockmark::report {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

constexpr const char* quantiles[] = {"response_p50_ns", "response_p99_ns", "response_max_ns",
                                     "service_p50_ns",  "service_p99_ns",  "timer_lag_p99_ns",
                                     "loop_lag_p99_ns"};

struct value_name {
  std::string name;
  bool counts;  // 0 if absent
};

// A killed run leaves the name with ".part", and perhaps half a line at the end.
std::vector<json> read_lines(const fs::path& folder) {
  fs::path file = folder / "timeline.jsonl";
  const bool whole = fs::exists(file);
  if (!whole) file += ".part";
  std::ifstream in(file);
  if (!in) {
    throw usage_error(
        "{}: has no timeline.jsonl that can be read; expected the folder "
        "of a run that has begun to measure",
        folder.string());
  }
  std::vector<json> lines;
  for (std::string text; std::getline(in, text);) {
    json line = json::parse(text, nullptr, false);
    if (line.is_object()) {
      lines.push_back(std::move(line));
    } else if (whole) {
      throw usage_error("{}: line {} is not a JSON object", file.string(), lines.size() + 1);
    }
  }
  return lines;
}

std::vector<value_name> columns_of(const std::vector<json>& lines) {
  std::vector<value_name> all{{"at_s", false}, {"length_s", false}};
  all.push_back({"attempts", true});
  for (const std::string_view name : run::counter_names) all.push_back({std::string(name), true});
  for (const char* name : quantiles) all.push_back({name, false});
  for (const json& line : lines) {
    for (const auto& [name, value] : line.items()) {
      const bool known = std::any_of(
          all.begin(), all.end(), [&name = name](const value_name& c) { return c.name == name; });
      if (!known) all.push_back({name, false});
    }
  }
  return all;
}

std::string cell(const json& line, const value_name& c) {
  const auto value = line.find(c.name);
  if (value == line.end() || value->is_null()) return c.counts ? "0" : "";
  return csv_cell(*value);
}

}  // namespace

std::string timeline_csv(const fs::path& path) {
  const fs::path folder = fs::is_directory(path) ? path : path.parent_path();
  const std::vector<json> lines = read_lines(folder);
  const std::vector<value_name> columns = columns_of(lines);
  const auto head = [](const value_name& c) { return csv_cell(c.name); };
  std::string text = joined(columns, head, ",") + "\r\n";
  for (const json& line : lines) {
    text += joined(
                columns, [&](const value_name& c) { return cell(line, c); }, ",") +
            "\r\n";
  }
  return text;
}

}  // namespace lockmark::report
