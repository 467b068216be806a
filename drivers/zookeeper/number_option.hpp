// Lock options that are small counts.
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>

#include "harness/driver.hpp"

namespace lockmark::zookeeper {

// 0: not a number.
inline std::uint32_t count_in(std::string_view text) {
  std::uint32_t count = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, count);
  return error == std::errc{} && stop == end ? count : 0;
}

inline bool is_count(std::string_view text) {
  constexpr std::uint32_t most = 1000;
  return count_in(text) >= 1 && count_in(text) <= most;
}

// The option's value, or `other` if the lock does not have it.
inline std::uint32_t number_in(const option_values& options, std::string_view name,
                               std::uint32_t other) {
  const auto found = options.find(name);
  return found == options.end() ? other : count_in(found->second);
}

}  // namespace lockmark::zookeeper
