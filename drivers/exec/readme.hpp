// For tests: a program that stands in README.md beside this file, in a file of its own.
#pragma once

#include <string>
#include <string_view>

namespace lockmark::exec {

class readme_program {
 public:
  // The first block of this language, in a new folder. Throws std::runtime_error where there is
  // none. REQUIRES: the working directory is the project's.
  readme_program(std::string_view language, std::string_view file_name);
  readme_program(const readme_program&) = delete;
  readme_program& operator=(const readme_program&) = delete;
  ~readme_program();  // removes the folder

  const std::string& folder() const { return folder_; }
  std::string path() const { return folder_ + '/' + name_; }
  int lines() const { return lines_; }

 private:
  std::string folder_;
  std::string name_;
  int lines_ = 0;
};

}  // namespace lockmark::exec
