// Any line as a command to the proxies: nothing throws, and accepted commands are within bounds.
#include <cassert>
#include <cstdint>

#include "harness/faults/proxy/command.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockmark::faults;
  const command c = read_command({reinterpret_cast<const char*>(data), size});
  if (!c.wrong.empty()) return 0;
  assert(c.what != command::kind::open || (!c.host.empty() && c.port > 0));
  assert(c.what != command::kind::await || !c.word.empty());
  assert(c.by.count() >= 0);
  return 0;
}
