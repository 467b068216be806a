// What a table has found, in a sentence or two below it.
//
// Waits are even where all three are so:
// * fairness (Jain's index in short windows) is 0.9 or more: nine in ten clients have their turn;
// * p99 is at most 4 times p50. A queue in order is well below that; where having waited for long
//   brings nobody nearer (exponential waits), it is 6.6 times;
// * the worst client's success is at least 0.9 of everybody's.
// They are uneven where one of them is known to be otherwise.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/report/language.hpp"
#include "harness/report/row.hpp"

namespace lockmark::report {

enum class waits : std::uint8_t { even, uneven, unknown };

// From the figures alone, whatever the verdicts.
waits waits_of(const row& r);

// A row whose lock may be praised: held, tested, measured, and promising anything at all.
bool is_sound(const row& r);

// Sentences about rows as ranked() has them, scenario by scenario, without a line break; empty for
// no rows. Locks that were violated, not tested, INVALID or only bounded are said to be that, and
// nothing else. A scenario in which nothing could be tested is left out beside others. Of one or
// two rows the figures are given, too.
std::string closing_text(const std::vector<row>& rows, language in = language::english);

// The row that a reader may want to go on with: sound, even rather than not, then the fastest; null
// if there is none.
const row* best_of(const std::vector<row>& rows);

}  // namespace lockmark::report
