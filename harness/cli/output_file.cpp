#include "harness/cli/output_file.hpp"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "harness/driver.hpp"

namespace lockmark::cli {

output_file::output_file(std::string option, std::filesystem::path path)
    : option_(std::move(option)), path_(std::move(path)) {
  if (path_.empty()) return;
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(path_, ignored);
  errno = folder ? EISDIR : 0;
  if (folder || !std::ofstream(part())) fail();
}

output_file::~output_file() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove(part(), ignored);
}

void output_file::write(const std::string& text) const {
  errno = 0;
  std::ofstream file(part(), std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) fail();
  std::error_code failed;
  std::filesystem::rename(part(), path_, failed);
  if (!failed) return;
  errno = failed.value();
  fail();
}

std::filesystem::path output_file::part() const {
  std::filesystem::path name = path_;
  name += ".part";
  return name;
}

void output_file::fail() const {
  throw usage_error(
      fmt::format("{}: {} cannot be written: {}", option_, path_.string(), std::strerror(errno)));
}

}  // namespace lockmark::cli
