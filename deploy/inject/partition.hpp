// The links that a cut through a network affects: planning only, no fault is injected here.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace lockmark::inject {

// The names of a link's ends: "zookeeper-1", "participant 2".
struct link_ends {
  std::string from, to;
};

using link_numbers = std::vector<std::size_t>;  // positions in the list of links given

// The links across the border around `side`, in both directions: those with one end in it. Links
// inside stay intact, and so do those outside.
link_numbers links_across(const std::vector<link_ends>& links,
                          const std::vector<std::string>& side);

// The links between these two alone, in both directions.
link_numbers links_joining(const std::vector<link_ends>& links, const std::string& one,
                           const std::string& other);

}  // namespace lockmark::inject
