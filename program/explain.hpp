// What a job will do and how long that takes, in words.
#pragma once

#include <string>

#include "program/jobs.hpp"

namespace lockmark::cli {

// Lines with a heading each: load, keys, attempt, faults, time. `idea`: the job's purpose; may be
// empty.
std::string explained(const named_job& job, const std::string& idea);

}  // namespace lockmark::cli
