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

void add(stretch& to, const stretch& more) {
  to.length_s += more.length_s;
  to.attempts += more.attempts;
  to.dropped += more.dropped;
  for (std::size_t e = 0; e < endings.size(); ++e) to.ended[e] += more.ended[e];
}

// The window ends in the middle of an interval. The rate over a few milliseconds is random, and
// would look like a collapse.
void join_remainder(std::vector<stretch>& all) {
  if (all.size() < 2 || all.back().length_s > 0.25 * all[all.size() - 2].length_s) return;
  add(all[all.size() - 2], all.back());
  all.pop_back();
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
    // With several threads an interval may begin slightly before the previous one ended.
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
    } else {
      add(coarse.back(), fine[i]);
    }
  }
  join_remainder(coarse);
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
