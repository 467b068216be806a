// Any bytes as a message of a ZooKeeper server, to each question: nothing is read beyond its end,
// and what is missing at the end of a message was missing in every shorter part of it.
#include <cassert>
#include <cstdint>
#include <iterator>
#include <vector>

#include "drivers/zookeeper/frames.hpp"

namespace {

using namespace lockmark::zookeeper;

constexpr std::optional<body> questions[] = {
    std::nullopt, body::nothing,       body::path, body::path_and_stat,
    body::stat,   body::data_and_stat, body::names};

bool is_believed(std::string_view frame, std::optional<body> asked) {
  const std::string wrong = wrong_in(frame, asked);
  assert(wrong.size() < 200);
  return wrong.empty();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // The first byte asks; the rest is a copy with an end that AddressSanitizer guards.
  const auto asked = questions[data[0] % std::size(questions)];
  const std::vector<char> copy(data + 1, data + size);
  const std::string_view frame{copy.data(), copy.size()};
  assert(frame_length(frame).has_value() == (frame.size() >= 4));
  const bool whole = is_believed(frame, asked);
  for (std::size_t shorter = frame.size(); shorter-- > 0;) {
    if (!is_believed(frame.substr(0, shorter), asked)) continue;
    assert(whole);
    break;  // so are all between, as the next inputs ask
  }
  return 0;
}
