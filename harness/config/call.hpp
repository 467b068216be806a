// The syntax shared by all choices that take parameters: `name` or `name(first, second)`.
//
// Splits the text and separates the arguments; the caller interprets them.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace lockmark::config {

// Views into the split text; blanks around the arguments are removed.
struct call {
  std::string_view name;
  std::vector<std::string_view> arguments;

  // True for this name with this many arguments.
  bool is(std::string_view wanted, std::size_t count) const {
    return name == wanted && arguments.size() == count;
  }
};

// Nothing if parentheses are missing, nested or followed by text, or if an argument is empty. A
// name without parentheses has no arguments; "name()" is not a call.
std::optional<call> split_call(std::string_view text);

}  // namespace lockmark::config
