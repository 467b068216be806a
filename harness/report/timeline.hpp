// The course of one run as CSV, for spreadsheets and plots.
#pragma once

#include <filesystem>
#include <string>

namespace lockmark::report {

// RFC 4180 with a header, a line per interval. The columns are always the same; what timeline.jsonl
// holds besides follows them. Counters that are not there are 0, other figures are left empty.
// `path` is a run's folder or its run.json; of a run that was killed, what it left is read. Throws
// usage_error.
std::string timeline_csv(const std::filesystem::path& path);

}  // namespace lockmark::report
