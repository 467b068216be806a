// Finds a job: a file, or one shipped with the program.
#pragma once

#include <string>
#include <vector>

#include "harness/config/job.hpp"

namespace lockmark::cli {

struct named_job {
  std::string name;  // the file's name without folder and ending: the table's "scenario"
  config::job job;
};

// An existing file takes precedence over a shipped job of that name. `assignments`: "KEY=VALUE".
// Throws usage_error and config_error.
named_job find_job(const std::string& path_or_name, const std::vector<std::string>& assignments);

struct job_text {
  std::string name;
  std::string file;  // as errors name it
  std::string yaml;
};

// The same, not yet read. Throws usage_error and config_error.
job_text find_job_text(const std::string& path_or_name);

// The first sentence of a job's opening comment, which states its purpose; empty without one.
std::string idea_of(const std::string& yaml);

// "contended, uncontended, ..."
std::string shipped_job_names();

}  // namespace lockmark::cli
