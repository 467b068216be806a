// Texts of others inside Markdown: what they hold is shown, and never taken for markup.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lockmark::report {

// A comment on a pull request may have 65,536 characters; below that with room for what a tool
// adds to it.
inline constexpr std::size_t most_markdown_bytes = 60'000;

// One line, also inside a table: no line break, no cell, no HTML element can come of it.
std::string markdown_text(std::string_view text);

// A block of code that its content cannot end.
std::string markdown_block(std::string_view text, std::string_view syntax);

// At most most_markdown_bytes: what is longer ends after a whole line with a sentence that says so.
std::string markdown_cut(std::string text);

}  // namespace lockmark::report
