#include "harness/report/hold_bars.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace lockmark::report {
namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t least_columns = 20;

using period = std::pair<std::int64_t, std::int64_t>;  // half-open, in ns

struct holder {
  std::string who;
  std::set<period> holds;
};

std::vector<holder> holders_of(const json& examples) {
  std::vector<holder> all;
  const json& key = examples.front().at("key");
  for (const json& example : examples) {
    if (example.at("key") != key) continue;
    for (const char* which : {"first", "second"}) {
      const json& hold = example.at(which);
      const auto who = hold.at("who").get<std::string>();
      auto known = std::ranges::find(all, who, &holder::who);
      if (known == all.end()) known = all.insert(all.end(), holder{who, {}});
      known->holds.emplace(hold.at("granted_ns").get<std::int64_t>(),
                           hold.at("release_sent_ns").get<std::int64_t>());
    }
  }
  return all;
}

period span_of(const std::vector<holder>& all) {
  period span = *all.front().holds.begin();
  for (const holder& h : all) {
    for (const period& i : h.holds) {
      span = {std::min(span.first, i.first), std::max(span.second, i.second)};
    }
  }
  return span;
}

bool overlap(const period& a, const period& b) {
  return a.first < b.second && b.first < a.second;
}

bool holds_in(const holder& h, const period& when) {
  return std::ranges::any_of(h.holds, [&](const period& i) { return overlap(i, when); });
}

// At some time of the column this one held the key, and another one, too.
bool shares_in(const std::vector<holder>& all, const holder& mine, const period& when) {
  for (const period& own : mine.holds) {
    const period both{std::max(own.first, when.first), std::min(own.second, when.second)};
    if (both.first >= both.second) continue;
    const bool other = std::ranges::any_of(
        all, [&](const holder& h) { return h.who != mine.who && holds_in(h, both); });
    if (other) return true;
  }
  return false;
}

std::string seconds(std::int64_t ns) {
  return fmt::format("{:.1f} s", static_cast<double>(ns) / 1e9);
}

}  // namespace

std::string hold_bars(const json& examples, std::size_t width) {
  if (examples.empty()) return {};
  const std::vector<holder> all = holders_of(examples);
  const period span = span_of(all);
  std::size_t label = 0;
  for (const holder& h : all) label = std::max(label, h.who.size());
  const std::size_t columns = std::max(least_columns, width - std::min(width, label + 2));
  const auto edge = [&](std::size_t column) {
    return span.first +
           static_cast<std::int64_t>(static_cast<double>(span.second - span.first) *
                                     static_cast<double>(column) / static_cast<double>(columns));
  };
  std::string text;
  for (const holder& h : all) {
    std::string bar;
    for (std::size_t c = 0; c < columns; ++c) {
      const period when{edge(c), edge(c + 1)};
      bar += !holds_in(h, when) ? ' ' : shares_in(all, h, when) ? 'X' : '=';
    }
    bar.erase(bar.find_last_not_of(' ') + 1);
    text += fmt::format("{:<{}}  {}\n", h.who, label, bar);
  }
  const std::string from = seconds(span.first), to = seconds(span.second);
  return text + fmt::format("{:<{}}  {}{:>{}}\n", "", label, from, to, columns - from.size());
}

}  // namespace lockmark::report
