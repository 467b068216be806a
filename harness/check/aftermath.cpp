#include "harness/check/aftermath.hpp"

#include <algorithm>

namespace lockmark::check {
namespace {

using stamps = std::vector<std::int64_t>;

std::optional<std::int64_t> after_client(const disruption& b, const stamps& grants_ns,
                                         std::int64_t until_ns) {
  const auto next = std::upper_bound(grants_ns.begin(), grants_ns.end(), b.at_ns);
  if (next == grants_ns.end() || *next >= until_ns) return std::nullopt;
  return *next - b.at_ns;
}

std::optional<std::int64_t> after_server(const disruption& b, const stamps& grants_ns,
                                         std::int64_t until_ns) {
  std::int64_t from_ns = b.at_ns;
  std::int64_t longest_ns = -1;
  std::optional<std::int64_t> ended_ns;
  const std::int64_t settled_ns = b.at_ns + std::max(settling_ns, b.takes_ns);
  for (auto next = std::upper_bound(grants_ns.begin(), grants_ns.end(), b.at_ns);
       from_ns <= settled_ns; ++next) {
    const bool none_left = next == grants_ns.end() || *next >= until_ns;
    const std::int64_t to_ns = none_left ? until_ns : *next;
    if (to_ns - from_ns > longest_ns) {
      longest_ns = to_ns - from_ns;
      ended_ns = none_left ? std::nullopt : std::optional{to_ns};
    }
    if (none_left) break;
    from_ns = to_ns;
  }
  if (!ended_ns) return std::nullopt;
  return *ended_ns - b.at_ns;
}

std::uint64_t count_between(const stamps& all_ns, std::int64_t from_ns, std::int64_t to_ns) {
  const auto first = std::lower_bound(all_ns.begin(), all_ns.end(), from_ns);
  const auto last = std::lower_bound(first, all_ns.end(), to_ns);
  return static_cast<std::uint64_t>(last - first);
}

}  // namespace

std::vector<aftermath> find_aftermath(const std::vector<disruption>& disruptions,
                                      const stamps& grants_ns, const stamps& violations_ns,
                                      std::int64_t end_ns) {
  std::vector<aftermath> all;
  for (std::size_t i = 0; i < disruptions.size(); ++i) {
    const disruption& b = disruptions[i];
    const std::int64_t until_ns = i + 1 < disruptions.size() ? disruptions[i + 1].at_ns : end_ns;
    aftermath a;
    a.recovery_ns =
        b.on_a_client ? after_client(b, grants_ns, until_ns) : after_server(b, grants_ns, until_ns);
    a.violations = count_between(violations_ns, b.at_ns, until_ns);
    all.push_back(a);
  }
  return all;
}

}  // namespace lockmark::check
