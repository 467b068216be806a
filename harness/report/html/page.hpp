// The report as one HTML file: a verdict, tables and charts of one run, or of several side by side.
//
// The file asks nobody for anything: style, scripts and data are in it, and its content security
// policy forbids the rest. Without scripts its tables say what the charts show. It reads run
// folders only, and an hour's run becomes as long a page as a minute's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace lockmark::report::html {

enum class order : std::uint8_t { as_given, ranked };

// `runs` are run folders or their run.json, one at least. Throws usage_error if a run.json cannot
// be read; what is missing besides is said in the page.
std::string page(const std::vector<std::filesystem::path>& runs, order in = order::ranked);

}  // namespace lockmark::report::html
