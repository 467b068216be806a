// For tests: a program from README.md beside this file, extracted to a file.
#pragma once

#include <string>
#include <string_view>

namespace lockmark::exec {

class readme_program {
 public:
  // The first block in this language, in a new folder. Throws std::runtime_error if there is none.
  // REQUIRES: the working directory is the project's.
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
