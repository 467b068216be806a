// Emphasis in a text for people. The caller that prints chooses it; the default is none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lockmark::report {

enum class tone : std::uint8_t { plain, good, doubtful, bad };

// The text written before and after each tone.
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
