// The one syntax shared by all choices that take parameters: `name` or `name(first, second)`.
//
// Splits the text and counts the arguments; what the arguments mean is their reader's business.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace lockmark::config {

// Views into the text that was split; blanks around the arguments are cut off.
struct call {
  std::string_view name;
  std::vector<std::string_view> arguments;

  // True for this name with this many arguments.
  bool is(std::string_view wanted, std::size_t count) const {
    return name == wanted && arguments.size() == count;
  }
};

// Nothing where parentheses are missing, nested or followed by something, or an argument is empty.
// A name without parentheses has no arguments; "name()" is not a call.
std::optional<call> split_call(std::string_view text);

}  // namespace lockmark::config
