#include "program/jobs.hpp"

#include <fmt/core.h>

#include <filesystem>

#include "harness/base/errors.hpp"
#include "workloads/jobs.hpp"

namespace lockmark::cli {

named_job find_job(const std::string& path_or_name, const std::vector<std::string>& assignments) {
  const std::filesystem::path path(path_or_name);
  if (std::filesystem::is_regular_file(path)) {
    return {path.stem().string(), config::load_job(path_or_name, assignments)};
  }
  const auto shipped = workloads::shipped_jobs().find(path_or_name);
  if (shipped == workloads::shipped_jobs().end()) {
    throw usage_error("job \"{}\" is neither a file nor a shipped job; shipped are {}",
                      path_or_name, shipped_job_names());
  }
  const std::string text(shipped->second);
  return {path_or_name, config::parse_job(text, path_or_name + ".yaml", assignments)};
}

std::string shipped_job_names() {
  std::string all;
  for (const auto& [name, text] : workloads::shipped_jobs()) {
    if (name.find('/') != std::string::npos) continue;  // the jobs of `lockmark faults`
    all += (all.empty() ? "" : ", ") + name;
  }
  return fmt::format("{}; and the scenarios of `lockmark faults`, as faults/NAME", all);
}

}  // namespace lockmark::cli
