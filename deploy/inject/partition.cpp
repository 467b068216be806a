#include "deploy/inject/partition.hpp"

#include <algorithm>

namespace lockmark::inject {

link_numbers links_across(const std::vector<link_ends>& links,
                          const std::vector<std::string>& side) {
  const auto inside = [&side](const std::string& who) { return std::ranges::count(side, who) > 0; };
  link_numbers found;
  for (std::size_t n = 0; n < links.size(); ++n) {
    if (inside(links[n].from) != inside(links[n].to)) found.push_back(n);
  }
  return found;
}

link_numbers links_joining(const std::vector<link_ends>& links, const std::string& one,
                           const std::string& other) {
  link_numbers found;
  for (std::size_t n = 0; n < links.size(); ++n) {
    const link_ends& l = links[n];
    const bool there = l.from == one && l.to == other;
    const bool back = l.from == other && l.to == one;
    if (there || back) found.push_back(n);
  }
  return found;
}

}  // namespace lockmark::inject
