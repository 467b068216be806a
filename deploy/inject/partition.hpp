// Which links a cut through a network takes: planning only, nothing is hurt here.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace lockmark::inject {

// Whom a link joins, by name: "zookeeper-1", "participant 2".
struct link_ends {
  std::string from, to;
};

using link_numbers = std::vector<std::size_t>;  // positions among the links that were asked about

// The links across the border around `side`, in both directions: those with one end in it. What is
// inside stays joined, and so is what is outside.
link_numbers links_across(const std::vector<link_ends>& links,
                          const std::vector<std::string>& side);

// The links between these two alone, in both directions.
link_numbers links_joining(const std::vector<link_ends>& links, const std::string& one,
                           const std::string& other);

}  // namespace lockmark::inject
