// Any text as a job: it is refused with a config_error, or printed and read back the same.
#include <cassert>
#include <cstdint>

#include "harness/config/job.hpp"

namespace {

using namespace lockmark::config;

void check(const job& read) {
  const std::string printed = print_job(read);
  const job again = parse_job(printed, "printed");
  assert(again == read && print_job(again) == printed);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text{reinterpret_cast<const char*>(data), size};
  job read;
  try {
    read = parse_job(text, "job.yaml");
  } catch (const config_error&) {
    return 0;
  }
  check(read);
  return 0;
}
