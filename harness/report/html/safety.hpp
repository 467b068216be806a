// What was proved against the lock: the counts, and two holders at a time as bars on one scale.
#pragma once

#include <string>

#include "harness/report/html/subject.hpp"

namespace lockmark::report::html {

std::string safety_part(const subject& s);

}  // namespace lockmark::report::html
