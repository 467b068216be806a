// Reads a run's folder.
#pragma once

#include <concepts>
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

[[noreturn]] void refuse_content(const recorded_run& run, const char* why);

// What `read` makes of a run's content. Throws usage_error if it lacks something.
template <std::invocable<const nlohmann::ordered_json&> Read>
auto from_content(const recorded_run& run, Read read) {
  try {
    return read(run.content);
  } catch (const nlohmann::ordered_json::exception& e) {
    refuse_content(run, e.what());
  }
}

}  // namespace lockmark::report
