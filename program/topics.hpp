// Concepts that `lockmark help TOPIC` and the manual page explain.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockmark::cli {

struct topic {
  std::string_view name;   // "hand-off"
  std::string_view title;  // one line
  // Paragraphs with an empty line between them. Lines that are indented, or have a colon and two
  // blanks, stay as they are.
  std::string_view text;
};

std::span<const topic> topics();

// Null for an unknown name. "Exit Status" and "exit_status" are "exit-status".
const topic* find_topic(std::string name);

// Its paragraphs and lines that stay as they are, and the empty ones between them.
std::vector<std::string> paragraphs_of(const topic& t);

// For a terminal of this width.
std::string topic_text(const topic& t, std::size_t width);

}  // namespace lockmark::cli
