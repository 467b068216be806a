// Any bytes as a page of metrics: counts that add up, and a date that is one.
#include <cassert>
#include <cstdint>
#include <string>

#include "drivers/etcd/metrics_page.hpp"

namespace {

using namespace lockmark::etcd;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  const metrics_page page = read_page(bytes);
  assert(page.failure.empty() || page.text.empty());
  assert(page.text.size() <= bytes.size());
  auto counted = counters_in(bytes);
  std::uint64_t sum = 0;
  for (const auto& [name, value] : counted) {
    if (name != "commands") sum += value;
  }
  assert(counted.empty() || counted.at("commands") == sum);
  const auto quota = gauge_in(bytes, "etcd_server_quota_backend_bytes");
  assert(!quota || *quota >= 0);
  assert(labelled_in(bytes, "etcd_server_version", "server_version").size() <= size);
  const auto when = seconds_in(bytes);
  assert(!when || bytes.size() == 29);
  return 0;
}
