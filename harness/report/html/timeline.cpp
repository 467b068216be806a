#include "harness/report/html/timeline.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "harness/report/html/look.hpp"

namespace lockmark::report::html {
namespace {

std::optional<stretch> parse(const std::string& line) {
  const json content = json::parse(line, nullptr, false);
  if (!content.is_object() || !look(content, {"at_s"}).is_number()) return std::nullopt;
  stretch s;
  s.begin_s = real_of(look(content, {"at_s"}));
  s.length_s = real_of(look(content, {"length_s"}));
  s.attempts = count_of(look(content, {"attempts"}));
  s.dropped = count_of(look(content, {"dropped"}));
  for (std::size_t e = 0; e < endings.size(); ++e) {
    s.ended[e] = count_of(look(content, {endings[e].key.data()}));
  }
  return s;
}

}  // namespace

std::vector<stretch> read_timeline(std::istream& in, std::string& damage) {
  std::vector<stretch> all;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line.empty()) continue;
    const auto s = parse(line);
    if (!s) {
      if (in.peek() != std::istream::traits_type::eof()) {
        damage = fmt::format("line {} is not what lockmark writes", number);
      }
      break;
    }
    all.push_back(*s);
    // Intervals of several threads may begin a little before the last one ended.
    if (all.size() > 1) all.back().begin_s = std::max(s->begin_s, all[all.size() - 2].begin_s);
  }
  return all;
}

std::vector<stretch> joined(const std::vector<stretch>& fine, std::size_t most) {
  const std::size_t each = std::max<std::size_t>(1, (fine.size() + most - 1) / most);
  std::vector<stretch> coarse;
  for (std::size_t i = 0; i < fine.size(); ++i) {
    if (i % each == 0) {
      coarse.push_back(fine[i]);
      continue;
    }
    stretch& last = coarse.back();
    last.length_s += fine[i].length_s;
    last.attempts += fine[i].attempts;
    last.dropped += fine[i].dropped;
    for (std::size_t e = 0; e < endings.size(); ++e) last.ended[e] += fine[i].ended[e];
  }
  return coarse;
}

std::vector<double> edges_of(std::span<const stretch> stretches) {
  std::vector<double> edges;
  if (stretches.empty()) return edges;
  for (const stretch& s : stretches) edges.push_back(s.begin_s);
  edges.push_back(stretches.back().begin_s + stretches.back().length_s);
  return edges;
}

}  // namespace lockmark::report::html
