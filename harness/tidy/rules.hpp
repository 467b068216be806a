// Rules of this source tree that no compiler enforces: allowed includes, access to clocks, and the
// length of things. Each rule checks one file's text and knows nothing of the disk. Does not parse
// C++: relies on the layout made by .clang-format.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockmark::tidy {

// Maxima, from harness/DESIGN.md section 9.
inline constexpr int max_file_lines = 400;
inline constexpr int max_function_lines = 70;
inline constexpr int max_columns = 100;

struct violation {
  std::string path;
  int line = 0;      // from 1
  std::string what;  // the broken rule, and what to do instead
};

// "path:line: what".
std::string text_of(const violation& v);

// Paths are relative to the root of the project, with '/'; texts are whole files.

// Any text: tabs, notes to oneself, long lines.
std::vector<violation> check_text(std::string_view path, std::string_view text);

// For C++, additionally: length of the file and of its functions, the comment that opens a header,
// clocks and sleeps, conditions that a compiler gets wrong, includes.
std::vector<violation> check_code(std::string_view path, std::string_view text);

// Includes only; part of check_code.
std::vector<violation> check_includes(std::string_view path, std::string_view text);

// A client library stays inside its driver: only that folder may include these headers.
struct client_library {
  std::string_view headers;  // the prefix of their names
  std::string_view folder;   // of the driver
};
std::vector<violation> check_libraries(std::string_view path, std::string_view text,
                                       std::span<const client_library> libraries);

// The text between the quotes or angle brackets of an include, or nothing.
std::string_view included_by(std::string_view line);

// The text with comments and the contents of literals blanked out; lines and columns stay.
std::string code_only(std::string_view text);

// A function's definition, from its first line to its closing brace.
struct function_extent {
  std::string name;
  int first_line = 0;
  int lines = 0;
};

// The functions in the output of code_only; lambdas count as part of the enclosing function.
std::vector<function_extent> functions(std::string_view code);

}  // namespace lockmark::tidy
