// The rules about text, size and clocks; includes.cpp has those about includes.
#include "harness/tidy/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "harness/tidy/text.hpp"

namespace lockmark::tidy {
namespace {

// In visible columns: counts every byte of UTF-8 except continuation bytes.
int columns(std::string_view line) {
  return static_cast<int>(std::ranges::count_if(
      line, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

bool is_header(std::string_view path) {
  return path.ends_with(".hpp");
}

// The first line says what the file is. A .cpp that only implements a header starts with an
// include.
void check_opening(std::string_view path, std::string_view text, std::vector<violation>& found) {
  const bool comment = text.starts_with("//");
  if (is_header(path) && !comment) {
    found.push_back({std::string{path}, 1,
                     "a header opens with a comment: say what it is and what it does not do"});
  }
  if (!is_header(path) && !comment && !text.starts_with("#include")) {
    found.push_back({std::string{path}, 1,
                     "a file opens with a comment that says what it is, or with its includes"});
  }
  if (is_header(path) && text.find("\n#pragma once\n") == std::string_view::npos) {
    found.push_back({std::string{path}, 1, "a header has #pragma once, after its comment"});
  }
}

void check_sizes(std::string_view path, std::string_view text, std::string_view code,
                 std::vector<violation>& found) {
  const int lines = static_cast<int>(lines_of(text).size());
  if (lines > max_file_lines) {
    found.push_back(
        {std::string{path}, lines,
         fmt::format("the file has {} lines, {} are allowed; split it by what its parts "
                     "are for",
                     lines, max_file_lines)});
  }
  for (const function_extent& f : functions(code)) {
    if (f.lines <= max_function_lines) continue;
    found.push_back(
        {std::string{path}, f.first_line,
         fmt::format("{} has {} lines, {} are allowed; give its steps names of their own", f.name,
                     f.lines, max_function_lines)});
  }
}

// All timed code must be testable with the simulated clock.
void check_clocks(std::string_view path, std::string_view code, std::vector<violation>& found) {
  if (path.starts_with("harness/time/")) return;
  constexpr std::array<std::string_view, 10> readers = {"steady_clock::now",
                                                        "system_clock::now",
                                                        "high_resolution_clock",
                                                        "clock_gettime",
                                                        "clock_nanosleep",
                                                        "gettimeofday",
                                                        "nanosleep",
                                                        "usleep",
                                                        "this_thread::sleep_for",
                                                        "this_thread::sleep_until"};
  int number = 0;
  for (const std::string_view line : lines_of(code)) {
    ++number;
    for (const std::string_view reader : readers) {
      if (find_word(line, reader) == std::string_view::npos) continue;
      found.push_back({std::string{path}, number,
                       fmt::format("uses {}; only harness/time reads a clock or sleeps: take a "
                                   "time::clock, and wait with a loop's timers",
                                   reader)});
    }
  }
}

// g++ 12 skips such a condition where the body says `continue`, and goes round for ever.
void check_conditions(std::string_view path, std::string_view code, std::vector<violation>& found) {
  int number = 0;
  for (const std::string_view line : lines_of(code)) {
    ++number;
    const auto end_of_body = line.find("} while (");
    if (end_of_body == line.npos || line.find("co_await", end_of_body) == line.npos) continue;
    found.push_back({std::string{path}, number,
                     "awaits in the condition of a do loop, which g++ 12 skips at a continue: "
                     "await in the body"});
  }
}

}  // namespace

std::string text_of(const violation& v) {
  return fmt::format("{}:{}: {}", v.path, v.line, v.what);
}

std::vector<violation> check_text(std::string_view path, std::string_view text) {
  // Split in two, because this file is checked as well.
  constexpr std::array<std::string_view, 2> notes = {
      "TO"
      "DO",
      "FIX"
      "ME"};
  std::vector<violation> found;
  int number = 0;
  for (const std::string_view line : lines_of(text)) {
    ++number;
    const auto report = [&](std::string what) {
      found.push_back({std::string{path}, number, std::move(what)});
    };
    if (line.find('\t') != std::string_view::npos) report("has a tab; indent with blanks");
    if (columns(line) > max_columns) {
      report(fmt::format("has {} columns, {} are allowed; break the line", columns(line),
                         max_columns));
    }
    for (const std::string_view note : notes) {
      if (find_word(line, note) == std::string_view::npos) continue;
      report(fmt::format("has a {}; do it, or file an issue", note));
    }
  }
  return found;
}

std::vector<violation> check_code(std::string_view path, std::string_view text) {
  const std::string code = code_only(text);
  std::vector<violation> found = check_includes(path, text);
  check_opening(path, text, found);
  check_sizes(path, text, code, found);
  check_clocks(path, code, found);
  check_conditions(path, code, found);
  return found;
}

}  // namespace lockmark::tidy
