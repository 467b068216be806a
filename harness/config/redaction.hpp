// Jobs and command lines as they may be shown and stored. What is hidden has become "***"; all else
// stays, so that a job that was stored so can still be read, compared and explained.
#pragma once

#include <string>
#include <string_view>

#include "harness/config/job.hpp"

namespace lockmark::config {

// Of users' commands only the program; no option's secret, and no login of a URL. Doing it twice
// changes nothing. It cannot be run where a command was hidden: see hidden_command.
job redacted(job whole);

// The key of a command that was hidden when the job was stored ("faults.1.command"); empty: none.
std::string hidden_command(const job& read);

// One word of a command line: a target, KEY=VALUE, --option=VALUE or several of these in one. Hides
// all of what it does not understand and what may be a secret.
std::string redacted_argument(std::string_view word);

}  // namespace lockmark::config
