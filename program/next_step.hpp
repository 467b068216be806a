// What the user may do next, as a line that can be typed as it stands.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/report/row.hpp"
#include "program/commands.hpp"

namespace lockmark::cli {

// By which the user reaches this program: lockmark if the one on PATH is it, else as it was called.
std::string own_name(const context& c);

// The line below a table: how to look at a lock that failed, or to break the best one; nothing if
// neither is there. `out`: the table's folder.
std::string next_command(const context& c, const std::vector<report::row>& rows,
                         const std::filesystem::path& out);

}  // namespace lockmark::cli
