#include "program/output_file.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <utility>

#include "harness/base/errors.hpp"
#include "harness/base/files.hpp"

namespace lockmark::cli {

output_file::output_file(std::string option, std::filesystem::path path)
    : option_(std::move(option)), path_(std::move(path)) {
  if (path_.empty()) return;
  try {
    check_writable(path_);
  } catch (const file_error& e) {
    throw usage_error("{}: {}", option_, e.what());
  }
}

void output_file::write(const std::string& text) const {
  try {
    write_whole_file(path_, text);
  } catch (const file_error& e) {
    throw usage_error("{}: {}", option_, e.what());
  }
}

bool save(const std::filesystem::path& file, const std::string& text) {
  try {
    write_whole_file(file, text);
  } catch (const file_error& e) {
    fmt::print(stderr, "lockmark: {}\n", e.what());
    return false;
  }
  return true;
}

}  // namespace lockmark::cli
