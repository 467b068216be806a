// Untrusted text inside Markdown: shown as it is, never taken for markup.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lockmark::report {

// A comment on a pull request may have 65,536 characters; this leaves room for what a tool adds.
inline constexpr std::size_t most_markdown_bytes = 60'000;

// One line, usable in a table: it cannot contain a line break, end a cell or begin an HTML element.
std::string markdown_text(std::string_view text);

// A block of code that its content cannot end.
std::string markdown_block(std::string_view text, std::string_view syntax);

// At most most_markdown_bytes: longer text is cut after a whole line, with a sentence that says so.
std::string markdown_cut(std::string text);

}  // namespace lockmark::report
