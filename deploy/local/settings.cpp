#include "deploy/local/settings.hpp"

#include <sstream>

namespace lockmark::local {

extern const lockmark::templates::texts templates;

std::string filled(std::string_view name, const json& data) {
  std::string text = templates::filled({templates, templates::unchanged}, name, data);
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  return text;
}

void add_words(std::vector<std::string>& argv, std::string_view name, const json& data) {
  std::istringstream lines(filled(name, data));
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    const auto blank = line.find(' ');
    const bool has_value = line.starts_with('-') && blank < line.find('=');
    argv.push_back(has_value ? line.substr(0, blank) : line);
    if (has_value) argv.push_back(line.substr(blank + 1));
  }
}

}  // namespace lockmark::local
