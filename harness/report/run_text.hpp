// One run as text for a person: the verdict first, then the figures.
#pragma once

#include <cstddef>
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

}  // namespace lockmark::report
