// Many runs as a comment on a pull request: the verdict first, then the runs that need a look, and
// the whole table folded. Under most_markdown_bytes, however many rows there are.
#pragma once

#include <string>
#include <vector>

#include "harness/report/row.hpp"

namespace lockmark::report {

// Shows rows in the order given. If not all fit, a sentence says how many were left out.
std::string runs_markdown(const std::vector<row>& rows);

}  // namespace lockmark::report
