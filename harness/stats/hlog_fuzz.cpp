// Arbitrary bytes as a .hlog file: refused by an hlog_error, or read as intervals that survive
// encoding and decoding unchanged.
#include <cassert>
#include <cstdint>
#include <sstream>

#include "harness/stats/hdr_encoding.hpp"
#include "harness/stats/hlog.hpp"

namespace {

using namespace lockmark::stats;

void read_all(const std::string& text, std::vector<std::string> only) {
  std::istringstream in{text};
  hlog_reader reader{in, std::move(only)};
  try {
    while (const auto interval = reader.next()) {
      assert(decode_v2(encode_v2(interval->values)) == interval->values);
    }
  } catch (const hlog_error& error) {
    assert(std::string_view{error.what()}.starts_with("line "));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text{reinterpret_cast<const char*>(data), size};
  read_all(text, {});
  read_all(text, {"", "service"});
  return 0;
}
