// Jobs and command lines in the form that may be shown and stored. Hidden parts become "***"; all
// else stays, so a stored job can still be read, compared and explained.
#pragma once

#include <string>
#include <string_view>

#include "harness/config/job.hpp"

namespace lockmark::config {

// Keeps only the program of users' commands; drops secrets in options and logins in URLs.
// Idempotent. A job with a hidden command cannot be run: see hidden_command.
job redacted(job whole);

// The key of a command that was hidden when the job was stored ("faults.1.command"); empty: none.
std::string hidden_command(const job& read);

// One word of a command line: a target, KEY=VALUE, --option=VALUE or several of these in one. Hides
// everything that it does not understand or that may be a secret.
std::string redacted_argument(std::string_view word);

}  // namespace lockmark::config
