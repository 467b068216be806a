// The top of the page: whether the lock held, and whether the figures can be trusted.
#pragma once

#include <string>
#include <vector>

#include "harness/report/html/subject.hpp"

namespace lockmark::report::html {

// The banner of one run: verdict in words, the kind of its figures, every reason.
std::string verdict_banner(const subject& s);

// The banner over several runs: how many held, and the names of those that did not.
std::string overview_banner(const std::vector<subject>& subjects);

// "held", "NOT HELD" or "unknown".
std::string held_word(const subject& s);
// "valid", "bound", "INVALID" or "incomplete".
std::string figures_word(const subject& s);
// The state of its bar in a chart, see bar_charts.hpp.
std::string state_of(const subject& s);

}  // namespace lockmark::report::html
