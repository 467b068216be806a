// The validity verdict on a finished run, from its measurements of its own harness.
#pragma once

#include "harness/run/result.hpp"

namespace lockmark::run {

// Completes `r.self` from the other parts of `r` and sets `r.verdict`. `cores`: how many cores the
// harness may use; its CPU time is reported as a share of them.
void judge_run(result& r, double cores);

}  // namespace lockmark::run
