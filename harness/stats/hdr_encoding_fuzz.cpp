// Arbitrary bytes as an encoded histogram, as Base64, or as the counters after a valid header, as
// chosen by the first byte: refused by an encoding_error, or re-encoded to something that decodes
// the same.
#include <cassert>
#include <cstdint>

#include "harness/stats/hdr_encoding.hpp"

namespace {

using namespace lockmark::stats;

void check_histogram(std::string_view bytes) {
  try {
    const histogram read = decode_v2(bytes);
    assert(read.count() >= 0 && read.used_counts() <= read.counts().size());
    assert(read.value_at_quantile(0.5) <= read.value_at_quantile(1));
    assert(decode_v2(encode_v2(read)) == read);
  } catch (const encoding_error&) {
  }
}

void check_base64(std::string_view text) {
  assert(from_base64(to_base64(text)) == text);
  try {
    from_base64(text);
  } catch (const encoding_error&) {
  }
}

// The header of a histogram with one digit, whose counters are 5 KB.
std::string with_header(std::string_view counters) {
  std::string bytes = encode_v2(histogram{1});
  bytes[7] = static_cast<char>(counters.size());
  bytes[6] = static_cast<char>(counters.size() >> 8);
  return bytes.append(counters);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes{reinterpret_cast<const char*>(data + 1), size - 1};
  switch (data[0] % 4) {
    case 0: check_base64(bytes); break;
    case 1: check_histogram(bytes); break;
    default: check_histogram(with_header(bytes));
  }
  return 0;
}
