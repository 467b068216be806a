// A file requested by the user in addition to the usual output.
#pragma once

#include <filesystem>
#include <string>

namespace lockmark::cli {

class output_file {
 public:
  // An empty path: no file. Checks now, not after an hour's run, that the file can be written;
  // throws usage_error that begins with the option's name.
  output_file(std::string option, std::filesystem::path path);

  explicit operator bool() const { return !path_.empty(); }

  // The file gets its name once it is complete. REQUIRES: a file was requested. Throws usage_error.
  void write(const std::string& text) const;

 private:
  std::string option_;
  std::filesystem::path path_;
};

// Saves output that the command also shows, so a full disk is no reason to fail: if the file cannot
// be written, prints one sentence to stderr and returns false.
bool save(const std::filesystem::path& file, const std::string& text);

}  // namespace lockmark::cli
