// One run as text for a person: the verdict first, then the figures.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "harness/report/read.hpp"
#include "harness/report/style.hpp"

namespace lockmark::report {

// The final output of `lockmark run`: about fifteen lines of at most `width` columns. Throws
// usage_error if run.json is incomplete.
std::string run_summary_terminal(const recorded_run& run, std::size_t width = 100,
                                 const style& look = {});

// The verdict in one sentence: "held: no violation in 5000 requests that met a hold (...)".
std::string verdict_sentence(const recorded_run& run);

// The report of a single run as Markdown, for a comment on a pull request: under
// most_markdown_bytes, whatever run.json contains.
std::string run_markdown(const recorded_run& run);

// The course of a run as CSV, for spreadsheets and plots: RFC 4180 with a header, one line per
// interval. The known columns are always the same; other keys of timeline.jsonl follow them.
// Missing counters are 0, other missing figures are empty. `path` is a run's folder or its
// run.json; of a killed run, reads what it left. Throws usage_error.
std::string timeline_csv(const std::filesystem::path& path);

}  // namespace lockmark::report
