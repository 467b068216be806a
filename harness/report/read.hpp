// Reads what a run has left in its folder.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace lockmark::report {

struct recorded_run {
  std::string name;                // of the folder
  nlohmann::ordered_json content;  // of run.json, schema version 1.x
};

// `path` is a run's folder or its run.json. A run that was killed can be read and says itself that
// it is not complete. Throws usage_error: no such file, no JSON, a schema version not known here.
recorded_run read_run(const std::filesystem::path& path);

// The same of a run.json whose text is this; `file` is what it is called, and is not read.
recorded_run run_in(std::string_view text, const std::filesystem::path& file);

}  // namespace lockmark::report
