// Proven violations: the counts, and pairs of simultaneous holders as bars on one scale.
#pragma once

#include <string>

#include "harness/report/html/subject.hpp"

namespace lockmark::report::html {

std::string safety_part(const subject& s);

}  // namespace lockmark::report::html
