// The verdicts on the claims, as a page that people can check.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/claims/claim.hpp"

namespace lockmark::claims {

struct tested {
  claim what;
  evidence found;
  judgement verdict;
};

// A table of verdicts, then each claim with its prediction, when it holds, the figures of every
// experiment and the command that repeats it.
std::string to_markdown(const std::vector<tested>& all);
// The same for a terminal; `program`: what the user types for lockmark.
std::string to_text(const std::vector<tested>& all, std::size_t width, const std::string& program);
std::string to_json(const std::vector<tested>& all);

// "lockmark claims 7c"
std::string command_for(const claim& c, const std::string& program = "lockmark");

}  // namespace lockmark::claims
