// The exported metrics match dashboards/METRICS.md, and the page matches them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "harness/metrics/families.hpp"
#include "harness/run/sample_result.hpp"

namespace lockmark::metrics {
namespace {

using strings = std::set<std::string>;

// A metric in the form that the page and the program have in common.
struct described {
  std::string type;
  strings labels;  // besides those of every run
  strings values;  // of its labels; empty if they depend on the run

  bool operator==(const described&) const = default;
};
void PrintTo(const described& d, std::ostream* out) {
  *out << fmt::format("{} by {{{}}} of {{{}}}", d.type, fmt::join(d.labels, ", "),
                      fmt::join(d.values, ", "));
}
using metrics_by_name = std::map<std::string, described>;

strings quoted_words(const std::string& text) {
  strings words;
  for (auto at = text.find('`'); at != text.npos;) {
    const auto end = text.find('`', at + 1);
    words.insert(text.substr(at + 1, end - at - 1));
    at = end == text.npos ? end : text.find('`', end + 1);
  }
  return words;
}

// A row "| `name` | type | unit | `label`: `value`, `value`; `label`: `value` | meaning |".
metrics_by_name on_the_page(std::istream& page) {
  metrics_by_name all;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| `lockmark_")) continue;
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, '|');) cells.push_back(cell);
    EXPECT_EQ(cells.size(), 6u) << line;
    if (cells.size() < 6) continue;
    described d;
    d.type = cells[2].substr(1, cells[2].size() - 2);
    std::istringstream labels(cells[4]);
    for (std::string label; std::getline(labels, label, ';');) {
      const auto colon = label.find(':');
      d.labels.merge(quoted_words(label.substr(0, colon)));
      if (colon != std::string::npos) d.values.merge(quoted_words(label.substr(colon)));
    }
    all[*quoted_words(cells[1]).begin()] = d;
  }
  return all;
}

const char* name_of(prometheus::MetricType t) {
  switch (t) {
    case prometheus::MetricType::Counter: return "counter";
    case prometheus::MetricType::Gauge: return "gauge";
    case prometheus::MetricType::Histogram: return "histogram";
    default: return "?";
  }
}

metrics_by_name exported(const families& all) {
  const strings of_every_run = {"backend", "lock", "topology", "scenario"};
  metrics_by_name found;
  for (const prometheus::MetricFamily& f : all) {
    described& d = found[f.name];
    d.type = name_of(f.type);
    for (const auto& metric : f.metric) {
      for (const auto& label : metric.label) {
        if (of_every_run.contains(label.name)) continue;
        d.labels.insert(label.name);
        d.values.insert(label.value);
      }
    }
  }
  return found;
}

families of_everything() {
  run::sample_run sample;
  sample.r.marks = {{1, 2, "kill_master", ""}};
  return of_result(sample.r);
}

void expect_same(const metrics_by_name& page, metrics_by_name shown) {
  for (auto& [name, d] : shown) {
    const auto row = page.find(name);
    ASSERT_NE(row, page.end()) << name << " is exported, and METRICS.md does not have it";
    if (row->second.values.empty()) d.values.clear();
    EXPECT_EQ(row->second, d) << name << ": METRICS.md, and what is exported";
  }
  for (const auto& [name, d] : page) {
    EXPECT_TRUE(shown.contains(name)) << name << " is in METRICS.md and not exported";
  }
}

TEST(contract, is_what_is_exported) {
  std::ifstream file("dashboards/METRICS.md");
  const metrics_by_name page = on_the_page(file);
  EXPECT_GT(page.size(), 30u);
  expect_same(page, exported(of_everything()));
}

// The comparison notices a missing row, an extra row, a wrong type, label or value.
TEST(contract, is_read_with_its_values) {
  std::istringstream text(
      "| metric | type | unit | labels of its own | meaning |\n"
      "|---|---|---|---|---|\n"
      "| `lockmark_a_total` | counter | | `kind`: `x`, `y` | words |\n"
      "| `lockmark_b_seconds` | histogram | seconds | | `words` |\n"
      "| `lockmark_c` | gauge | | `p`, `q` | words |\n");
  const metrics_by_name page = on_the_page(text);
  const metrics_by_name expected = {{"lockmark_a_total", {"counter", {"kind"}, {"x", "y"}}},
                                    {"lockmark_b_seconds", {"histogram", {}, {}}},
                                    {"lockmark_c", {"gauge", {"p", "q"}, {}}}};
  EXPECT_EQ(page, expected);
}

// "1, 2, 3 and 5 times each power of ten from 0.0001 to 30, before them 0.00005, after them 60."
TEST(contract, has_the_buckets_of_the_page) {
  std::set<std::int64_t> bounds = {50'000, 60'000'000'000};
  for (std::int64_t power = 100'000; power <= 10'000'000'000; power *= 10) {
    for (const std::int64_t times : {1, 2, 3, 5}) {
      if (times * power <= 30'000'000'000) bounds.insert(times * power);
    }
  }
  EXPECT_THAT(bucket_bounds_ns, testing::ElementsAreArray(bounds));
  EXPECT_EQ(bounds.size(), 25u);
}

// Names show what is counted and in which unit.
TEST(contract, keeps_to_the_usual_names) {
  for (const prometheus::MetricFamily& f : of_everything()) {
    EXPECT_TRUE(f.name.starts_with("lockmark_")) << f.name;
    EXPECT_EQ(f.name.ends_with("_total"), f.type == prometheus::MetricType::Counter) << f.name;
    if (f.type == prometheus::MetricType::Histogram) {
      EXPECT_TRUE(f.name.ends_with("_seconds")) << f.name;
    }
    EXPECT_FALSE(f.help.empty()) << f.name;
  }
}

}  // namespace
}  // namespace lockmark::metrics
