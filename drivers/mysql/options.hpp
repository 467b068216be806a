// Helpers for the options of the locks on MySQL.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

#include "harness/driver.hpp"

namespace lockmark::mysql {

// A string literal as a template argument.
template <std::size_t N>
struct word {
  constexpr word(const char (&text)[N]) { std::copy_n(text, N, letters); }
  constexpr std::string_view view() const { return {letters, N - 1}; }
  char letters[N]{};
};

// lock_option::accepts for one of a few words.
template <word... Words>
bool is_one_of(std::string_view value) {
  return ((value == Words.view()) || ...);
}

// "250ms" or "30s": above zero, at most a day.
std::optional<duration> read_duration(std::string_view text);

}  // namespace lockmark::mysql
