// A file that the user asked for beside the usual output.
#pragma once

#include <filesystem>
#include <string>

namespace lockmark::cli {

class output_file {
 public:
  // An empty path: none was asked for. Whether the file can be written is found out now and not
  // after an hour's run; throws usage_error that begins with the option's name.
  output_file(std::string option, std::filesystem::path path);

  explicit operator bool() const { return !path_.empty(); }

  // Gives the file its name when it is whole. REQUIRES: one was asked for. Throws usage_error.
  void write(const std::string& text) const;

 private:
  std::string option_;
  std::filesystem::path path_;
};

// Of what a command shows as well, so that a full disk is no reason to end it: false where the file
// could not be written, which stderr then says in one sentence.
bool save(const std::filesystem::path& file, const std::string& text);

}  // namespace lockmark::cli
