#include "program/jobs.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <sstream>

#include "harness/base/errors.hpp"
#include "workloads/jobs.hpp"

namespace lockmark::cli {

named_job find_job(const std::string& path_or_name, const std::vector<std::string>& assignments) {
  const job_text found = find_job_text(path_or_name);
  return {found.name, config::parse_job(found.yaml, found.file, assignments)};
}

job_text find_job_text(const std::string& path_or_name) {
  const std::filesystem::path path(path_or_name);
  if (std::filesystem::is_regular_file(path)) {
    return {path.stem().string(), path_or_name, config::read_job_file(path_or_name)};
  }
  const auto shipped = workloads::shipped_jobs().find(path_or_name);
  if (shipped == workloads::shipped_jobs().end()) {
    throw usage_error("job \"{}\" is neither a file nor a shipped job; shipped are {}",
                      path_or_name, shipped_job_names());
  }
  return {path_or_name, path_or_name + ".yaml", std::string(shipped->second)};
}

std::string idea_of(const std::string& yaml) {
  std::istringstream lines(yaml);
  std::string text;
  for (std::string line; std::getline(lines, line) && line.starts_with("# ");) {
    text += fmt::format("{}{}", text.empty() ? "" : " ", line.substr(2));
    const auto end = text.find_first_of("?.");
    if (end != text.npos) return text.substr(0, end + 1);
  }
  return text;
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
