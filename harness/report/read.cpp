#include "harness/report/read.hpp"

#include <fmt/core.h>

#include <array>
#include <fstream>

#include "harness/base/errors.hpp"

namespace lockmark::report {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

constexpr std::string_view known_major = "1";

std::string text_in(const fs::path& file) {
  std::ifstream in(file);
  std::string text;
  std::array<char, 16 * 1024> block;
  while (in.read(block.data(), block.size()), in.gcount() > 0) {
    text.append(block.data(), static_cast<std::size_t>(in.gcount()));
  }
  // A directory opens but cannot be read.
  if (in.is_open() && !in.bad()) return text;
  throw usage_error(
      "{}: cannot be read; expected the folder of a run that has begun to measure, "
      "or its run.json",
      file.string());
}

json parse(std::string_view text, const fs::path& file) {
  try {
    return json::parse(text);
  } catch (const json::parse_error& e) {
    throw usage_error("{}: is not JSON: damaged at byte {}", file.string(), e.byte);
  } catch (const json::out_of_range&) {
    throw usage_error("{}: holds a number that is too large", file.string());
  }
}

void check_version(const fs::path& file, const json& content) {
  const json version = content.is_object() ? content.value("schema_version", json()) : json();
  if (!version.is_string()) {
    throw usage_error("{}: has no schema_version; expected what lockmark run writes",
                      file.string());
  }
  const auto text = version.get<std::string>();
  if (text.substr(0, text.find('.')) != known_major) {
    throw usage_error("{}: has schema_version {}; this lockmark reads {}.x", file.string(), text,
                      known_major);
  }
}

}  // namespace

recorded_run read_run(const fs::path& path) {
  const fs::path file = fs::is_directory(path) ? path / "run.json" : path;
  return run_in(text_in(file), file);
}

recorded_run run_in(std::string_view text, const fs::path& file) {
  recorded_run run;
  run.content = parse(text, file);
  check_version(file, run.content);
  run.name = fs::weakly_canonical(file).parent_path().filename().string();
  return run;
}

void refuse_content(const recorded_run& run, const char* why) {
  throw usage_error("run {}: its run.json is not as lockmark writes it: {}", run.name, why);
}

}  // namespace lockmark::report
