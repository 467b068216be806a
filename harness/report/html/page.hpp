// The report as one HTML file: a verdict, tables and charts of one run, or of several side by side.
//
// The file is self-contained: style, scripts and data are in it, and its content security policy
// forbids everything else. Without scripts its tables say what the charts show. Reads run folders
// only; the page for an hour's run is as long as for a minute's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace lockmark::report::html {

enum class order : std::uint8_t { as_given, ranked };

// `runs`: at least one run folder or its run.json. Throws usage_error if a run.json cannot be read;
// the page says what else is missing.
std::string page(const std::vector<std::filesystem::path>& runs, order in = order::ranked);

}  // namespace lockmark::report::html
