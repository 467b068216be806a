// The rules of this source tree that no compiler holds: who may include whom, who may read a clock,
// and how long things may get. Each rule looks at one file's text and knows nothing of the disk.
// It does not parse C++: it relies on the layout that .clang-format gives.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockmark::tidy {

// Maxima, from harness/DESIGN.md section 9.
inline constexpr int max_file_lines = 500;
inline constexpr int max_function_lines = 70;
inline constexpr int max_columns = 100;

struct violation {
  std::string path;
  int line = 0;      // from 1
  std::string what;  // the rule that is broken, and what to do instead
};

// "path:line: what".
std::string text_of(const violation& v);

// Paths are relative to the root of the project, with '/'; texts are whole files.

// Any text: tabs, notes to oneself, long lines.
std::vector<violation> check_text(std::string_view path, std::string_view text);

// C++ only, besides: length of the file and of its functions, the comment that opens a header,
// clocks and sleeps, includes.
std::vector<violation> check_code(std::string_view path, std::string_view text);

// Includes only; part of check_code.
std::vector<violation> check_includes(std::string_view path, std::string_view text);

// A client library stays inside its driver: what begins so is included in that folder only.
struct client_library {
  std::string_view headers;  // the beginning of their names
  std::string_view folder;   // of the driver
};
std::vector<violation> check_libraries(std::string_view path, std::string_view text,
                                       std::span<const client_library> libraries);

// What stands between the quotes or angle brackets of an include, or nothing.
std::string_view included_by(std::string_view line);

// The text with comments and the contents of literals blanked out; lines and columns stay.
std::string code_only(std::string_view text);

// A function's definition, from its first line to its closing brace.
struct function_extent {
  std::string name;
  int first_line = 0;
  int lines = 0;
};

// Functions of a text that code_only has gone over; lambdas count as part of the function around.
std::vector<function_extent> functions(std::string_view code);

}  // namespace lockmark::tidy
