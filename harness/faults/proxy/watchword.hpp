// Counts how often some bytes have come by in a stream, also where they come in pieces.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lockmark::faults {

// How often `word` (not empty) ends in `bytes`, if `tail` is what came before them; overlapping
// ones count. `tail` becomes what the next call needs: it begins empty, one for each stream.
inline std::uint64_t count_word(std::string_view word, std::string& tail, std::string_view bytes) {
  tail.append(bytes);
  std::uint64_t count = 0;
  for (auto at = tail.find(word); at != std::string::npos; at = tail.find(word, at + 1)) ++count;
  if (tail.size() >= word.size()) tail.erase(0, tail.size() - word.size() + 1);
  return count;
}

}  // namespace lockmark::faults
