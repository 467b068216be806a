// The words that a fault's `who` begins with.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace lockmark::faults {

struct target_word {
  std::string_view word;
  std::string_view spoken;  // in a sentence; empty: as written, since numbers or names follow
  bool several = false;
  std::size_t names = 0;  // number of names that follow
};

std::span<const target_word> target_words();
// By the first word of `who`; null if it is unknown.
const target_word* find_target_word(std::string_view who);

}  // namespace lockmark::faults
