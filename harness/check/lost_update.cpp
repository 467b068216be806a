#include "harness/check/lost_update.hpp"

#include <algorithm>

namespace lockmark::check {
namespace {

// Commits arrive in order of their answers, which differs from the server's order by at most one
// commit per client in flight.
constexpr std::size_t remembered_versions = 512;

}  // namespace

void lost_updates::committed(const event& e) {
  key_state& state = keys_[e.key];
  ++state.confirmed;
  if (!state.recent.insert(e.token).second) ++state.replaced_twice;
  if (state.recent.size() > remembered_versions) state.recent.erase(state.recent.begin());
}

void lost_updates::server_counted(std::uint32_t key, std::uint64_t commits) {
  key_state& state = keys_[key];
  const std::uint64_t most = state.confirmed + state.doubtful;
  if (commits < state.confirmed) state.miscounted = state.confirmed - commits;
  if (commits > most) state.miscounted = commits - most;
}

std::uint64_t lost_updates::found() const {
  std::uint64_t found = 0;
  for (const key_state& k : keys_) found += std::max(k.replaced_twice, k.miscounted);
  return found;
}

}  // namespace lockmark::check
