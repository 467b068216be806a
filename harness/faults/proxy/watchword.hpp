// Counts the occurrences of some bytes in a stream, even if they are split over several pieces.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lockmark::faults {

// The number of occurrences of `word` (not empty) that end in `bytes`, where `tail` precedes them;
// overlapping ones count. Updates `tail` for the next call: one per stream, empty at first.
inline std::uint64_t count_word(std::string_view word, std::string& tail, std::string_view bytes) {
  tail.append(bytes);
  std::uint64_t count = 0;
  for (auto at = tail.find(word); at != std::string::npos; at = tail.find(word, at + 1)) ++count;
  if (tail.size() >= word.size()) tail.erase(0, tail.size() - word.size() + 1);
  return count;
}

}  // namespace lockmark::faults
