// Any fault keys, as lines of KEY=TEXT, are either refused with a config_error that both readers
// agree on, or described in a sentence.
#include <cassert>
#include <cstdint>

#include "harness/config/job.hpp"
#include "harness/config/settings.hpp"
#include "harness/faults/kind.hpp"

namespace {

using namespace lockmark::faults;

std::map<std::string, std::string> keys_of(std::string_view lines) {
  std::map<std::string, std::string> keys;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
    const auto equals = line.find('=');
    if (equals == line.npos) continue;
    keys.emplace(line.substr(0, equals), line.substr(equals + 1));
  }
  return keys;
}

void check(const fault_plan& plan) {
  assert(!describe(plan).empty() && !name_of(plan).empty());
  assert(!plan.what->of_links() || plan.lasts.count() > 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto keys = keys_of({reinterpret_cast<const char*>(data), size});
  const auto problem = lockmark::config::find_fault_problem(keys);
  if (problem) {
    assert(problem->key.starts_with("faults.") && !problem->sentence.empty());
    return 0;
  }
  for (const fault_plan& plan : read_faults(keys)) check(plan);
  return 0;
}
