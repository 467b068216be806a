// For tests: run folders as lockmark leaves them, of runs that never took place.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/run/sample_result.hpp"

namespace lockmark::report::html {

// A directory that is gone with the object.
class sample_folders {
 public:
  sample_folders();
  ~sample_folders();
  sample_folders(const sample_folders&) = delete;
  sample_folders& operator=(const sample_folders&) = delete;

  const std::filesystem::path& root() const { return root_; }
  // A whole run; a run killed after three intervals; one of an hour with as much in it as can be.
  std::filesystem::path whole(const std::string& name, const run::sample_run& s) const;
  std::filesystem::path killed(const std::string& name, const run::sample_run& s) const;
  std::filesystem::path hour_long(const std::string& name) const;
  // Twelve that differ: two scenarios; held, not held, INVALID, a bound, killed.
  std::vector<std::filesystem::path> twelve() const;

 private:
  std::filesystem::path root_;
};

// With two holders at a time.
run::sample_run violated_run();
// With faults from 1 to 2 s and at 3 s, and attempts that were not granted.
run::sample_run faulty_run();

std::string read_text(const std::filesystem::path& file);
void write_text(const std::filesystem::path& file, const std::string& text);

}  // namespace lockmark::report::html
