// Emphasis in a text for people. What it looks like, and whether there is any, is for the one who
// prints: by default there is none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lockmark::report {

enum class tone : std::uint8_t { plain, good, doubtful, bad };

// What is written before a text of each tone, and after it.
struct style {
  std::string_view good{};
  std::string_view doubtful{};
  std::string_view bad{};
  std::string_view end{};

  std::string paint(std::string_view text, tone t) const {
    const std::string_view begin = t == tone::good       ? good
                                   : t == tone::doubtful ? doubtful
                                   : t == tone::bad      ? bad
                                                         : std::string_view{};
    std::string painted(begin);
    painted += text;
    if (!begin.empty()) painted += end;
    return painted;
  }
};

}  // namespace lockmark::report
