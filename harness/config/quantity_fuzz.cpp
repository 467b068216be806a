// Any text as each type of value: a value that is read is printed and reads back the same.
#include <cassert>
#include <cstdint>

#include "harness/config/distribution.hpp"
#include "harness/config/key_choice.hpp"
#include "harness/config/quantity.hpp"
#include "harness/config/retry_policy.hpp"

namespace lockmark::config {
namespace {

template <class Parse, class Print>
void check(std::string_view text, Parse parse, Print print) {
  const auto read = parse(text);
  if (!read) {
    assert(!read.error().sentence.empty());
    return;
  }
  const std::string printed = print(*read);
  const auto again = parse(printed);
  assert(again && *again == *read && print(*again) == printed);
}

}  // namespace
}  // namespace lockmark::config

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockmark::config;
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  check(text, parse_duration, print_duration);
  check(text, parse_rate, print_rate);
  check(text, parse_count, print_count);
  check(text, parse_number, print_number);
  check(text, parse_bool, print_bool);
  check(text, parse_distribution, print_distribution);
  check(text, parse_key_choice, print_key_choice);
  check(text, parse_retry_policy, print_retry_policy);
  return 0;
}
