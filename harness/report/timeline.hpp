// The course of one run as CSV, for spreadsheets and plots.
#pragma once

#include <filesystem>
#include <string>

namespace lockmark::report {

// RFC 4180 with a header, one line per interval. The known columns are always the same; other keys
// of timeline.jsonl follow them. Missing counters are 0, other missing figures are empty. `path` is
// a run's folder or its run.json; of a killed run, reads what it left. Throws usage_error.
std::string timeline_csv(const std::filesystem::path& path);

}  // namespace lockmark::report
