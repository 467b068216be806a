// Any bytes as a message of a ZooKeeper server, as the reply to each kind of request: no read
// beyond the end, and a message that is too short is also too short in every shorter prefix.
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
  // The first byte chooses the request; the rest is copied to a buffer whose end AddressSanitizer
  // guards.
  const auto asked = questions[data[0] % std::size(questions)];
  const std::vector<char> copy(data + 1, data + size);
  const std::string_view frame{copy.data(), copy.size()};
  assert(frame_length(frame).has_value() == (frame.size() >= 4));
  const bool whole = is_believed(frame, asked);
  for (std::size_t shorter = frame.size(); shorter-- > 0;) {
    if (!is_believed(frame.substr(0, shorter), asked)) continue;
    assert(whole);
    break;  // so are all lengths between, as later inputs check
  }
  return 0;
}
