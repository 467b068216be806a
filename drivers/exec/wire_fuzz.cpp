// Any line as a lock client's output: it parses to a valid answer or yields an error sentence.
// Nothing throws, and a line is quoted as one short line.
#include <algorithm>
#include <cassert>
#include <cstdint>

#include "drivers/exec/wire.hpp"

namespace {

using namespace lockmark;
using namespace lockmark::exec;

constexpr std::size_t longest_sentence = 1024;

bool is_printable(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c < 0x7f; });
}

void check_outcome(const answer& a) {
  assert(a.ending);
  if (a.valid) assert(*a.valid + time_point{} < time_point::max());
  if (!a.at) return;
  const std::string wrong = wrong_with(*a.at, from_ns(1'000), from_ns(2'000'000'000));
  const bool in_order = a.at->received <= a.at->began && a.at->began <= a.at->ended &&
                        a.at->ended <= a.at->sent && a.at->sent <= from_ns(2'000'000'000) &&
                        a.at->received >= from_ns(1'000);
  assert(!in_order || wrong.empty());
  assert(wrong.size() < longest_sentence);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view line{reinterpret_cast<const char*>(data), size};
  const std::string shown = quoted_line(line);
  assert(is_printable(shown) && shown.size() < longest_sentence);
  const auto read = read_line(line);
  if (!read) {
    assert(!read.error().sentence.empty() && read.error().sentence.size() < longest_sentence);
    return 0;
  }
  if (read->what == answer::kind::outcome) check_outcome(*read);
  return 0;
}
