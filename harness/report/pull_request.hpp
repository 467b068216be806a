// Many runs as a comment on a pull request: the verdict first, then what needs a look, and the
// whole table folded away. Under most_markdown_bytes, however many rows there are.
#pragma once

#include <string>
#include <vector>

#include "harness/report/row.hpp"

namespace lockmark::report {

// Rows are shown in the order given. Where they do not fit, a sentence says how many were left out.
std::string runs_markdown(const std::vector<row>& rows);

}  // namespace lockmark::report
