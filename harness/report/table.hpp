// The comparison table, in formats for people and programs.
//
// Prints rows in the order given (see ranked()). The reasons for an INVALID or incomplete row or a
// bound are footnotes below the table.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/report/language.hpp"
#include "harness/report/row.hpp"
#include "harness/report/style.hpp"

namespace lockmark::report {

std::string table_markdown(const std::vector<row>& rows, language in = language::english);

// TPS by lock and topology, one table per scenario, a dash if a lock does not run on a topology.
// For rows on more than one topology.
std::string overview_markdown(const std::vector<row>& rows, language in = language::english);

// RFC 4180 with a header; nanoseconds and shares as numbers, "> N" for censored times, empty if
// unknown, reasons separated by "; ".
std::string table_csv(const std::vector<row>& rows);

// An array of objects; the keys are the contract of `lockmark table --format json`.
std::string table_json(const std::vector<row>& rows);

// Aligned text under a heading per scenario. Columns that do not fit are left out and named: first
// what is the same in every row, then the least important; lock, speed and validity always stay.
// Fairness and safety are worth more than the intervals of the speed, and than p50. If a fault
// paused a holder in some row, safety is what that showed. `wide`: all stay.
std::string table_terminal(const std::vector<row>& rows, std::size_t width,
                           language in = language::english, const style& look = {},
                           bool wide = false);

// Many runs as a comment on a pull request: the verdict first, then the runs that need a look, and
// the whole table folded. Under most_markdown_bytes, however many rows there are.
// Shows rows in the order given. If not all fit, a sentence says how many were left out.
std::string runs_markdown(const std::vector<row>& rows);

}  // namespace lockmark::report
