#include "harness/tidy/graph.hpp"

#include <algorithm>
#include <array>

#include "harness/tidy/rules.hpp"
#include "harness/tidy/text.hpp"

namespace lockmark::tidy {
namespace {

// All parts reachable from `part`; `part` itself only through others.
std::set<std::string> reach(const uses& of, const std::string& part) {
  std::set<std::string> seen;
  std::vector<std::string> open{part};
  while (!open.empty()) {
    const auto next = of.find(open.back());
    open.pop_back();
    if (next == of.end()) continue;
    for (const std::string& other : next->second) {
      if (seen.insert(other).second) open.push_back(other);
    }
  }
  return seen;
}

}  // namespace

bool is_for_tests(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  constexpr std::array<std::string_view, 4> inside = {"_test.", "_bench.", "_fuzz.", "_fixture."};
  constexpr std::array<std::string_view, 4> first = {"test_", "sample_", "fake_", "odd_"};
  return std::ranges::any_of(inside, [&](auto s) { return name.find(s) != name.npos; }) ||
         std::ranges::any_of(first, [&](auto s) { return name.starts_with(s); });
}

void include_graph::add(std::string_view path, std::string_view text) {
  if (is_for_tests(path)) return;
  for (const std::string_view line : lines_of(text)) {
    const std::string_view included = included_by(line);
    if (!included.empty()) add_use(path, included);
  }
}

// Adds the use in the folder where the two paths part, and nowhere else.
void include_graph::add_use(std::string_view path, std::string_view included) {
  const auto part = std::ranges::mismatch(path, included).in1 - path.begin();
  const auto slash = path.substr(0, static_cast<std::size_t>(part)).rfind('/');
  const std::size_t begin = slash == path.npos ? 0 : slash + 1;
  const auto first_of = [&](std::string_view whole) {
    return std::string(whole.substr(begin, whole.find('/', begin) - begin));
  };
  folders_[std::string(path.substr(0, begin))][first_of(path)].insert(first_of(included));
}

std::vector<std::set<std::string>> cycles(const uses& of) {
  std::vector<std::set<std::string>> found;
  for (const auto& [part, unused] : of) {
    std::set<std::string> mutual;
    for (const std::string& other : reach(of, part)) {
      if (reach(of, other).contains(part)) mutual.insert(other);
    }
    const bool known = std::ranges::find(found, mutual) != found.end();
    if (!mutual.empty() && !known) found.push_back(std::move(mutual));
  }
  return found;
}

}  // namespace lockmark::tidy
