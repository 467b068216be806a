// Reads a run's folder.
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

// `path` is a run's folder or its run.json. A killed run can be read; its content says that it is
// incomplete. Throws usage_error: no such file, not JSON, an unknown schema version.
recorded_run read_run(const std::filesystem::path& path);

// The same from the text of a run.json; `file` only names it and is not read.
recorded_run run_in(std::string_view text, const std::filesystem::path& file);

}  // namespace lockmark::report
