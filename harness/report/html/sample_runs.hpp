// For tests: run folders as lockmark leaves them, of invented runs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/run/sample_result.hpp"

namespace lockmark::report::html {

// A directory that is removed with the object.
class sample_folders {
 public:
  sample_folders();
  ~sample_folders();
  sample_folders(const sample_folders&) = delete;
  sample_folders& operator=(const sample_folders&) = delete;

  const std::filesystem::path& root() const { return root_; }
  // A whole run; a run killed after three intervals; an hour's run with as much data as possible.
  std::filesystem::path whole(const std::string& name, const run::sample_run& s) const;
  std::filesystem::path killed(const std::string& name, const run::sample_run& s) const;
  std::filesystem::path hour_long(const std::string& name) const;
  // Twelve different ones: two scenarios; held, not held, INVALID, a bound, killed.
  std::vector<std::filesystem::path> twelve() const;

 private:
  std::filesystem::path root_;
};

// With two holders at once.
run::sample_run violated_run();
// With faults from 1 to 2 s and at 3 s, and attempts that were not granted.
run::sample_run faulty_run();

std::string read_text(const std::filesystem::path& file);
void write_text(const std::filesystem::path& file, const std::string& text);

}  // namespace lockmark::report::html
