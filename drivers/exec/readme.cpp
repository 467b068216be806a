#include "drivers/exec/readme.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace lockmark::exec {

readme_program::readme_program(std::string_view language, std::string_view file_name)
    : name_(file_name) {
  std::ifstream readme("drivers/exec/README.md");
  const std::string begin = fmt::format("```{}", language);
  std::string line;
  while (std::getline(readme, line) && line != begin) continue;
  std::string text;
  for (; std::getline(readme, line) && line != "```"; ++lines_) text += line + '\n';
  if (text.empty()) {
    throw std::runtime_error(fmt::format("no {} in drivers/exec/README.md", begin));
  }
  std::string pattern = std::filesystem::temp_directory_path() / "lockmark-exec-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
  folder_ = pattern;
  std::ofstream(path()) << text;
}

readme_program::~readme_program() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace lockmark::exec
