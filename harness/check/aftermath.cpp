#include "harness/check/aftermath.hpp"

#include <algorithm>
#include <unordered_map>

namespace lockmark::check {
namespace {

struct demand {
  std::vector<grant_stamp> grants;
  std::optional<std::int64_t> unserved_ns;  // since then it is asked for and not granted
};

using demands = std::unordered_map<std::uint32_t, demand>;

demands by_key(const std::vector<grant_stamp>& grants, const std::vector<unserved_key>& unserved) {
  demands all;
  for (const grant_stamp& g : grants) all[g.key].grants.push_back(g);
  for (const unserved_key& u : unserved) all[u.key].unserved_ns = u.wanted_ns;
  return all;
}

auto first_after(const std::vector<grant_stamp>& grants, std::int64_t at_ns) {
  return std::ranges::upper_bound(grants, at_ns, {}, &grant_stamp::at_ns);
}

std::optional<grant_stamp> next_grant(const std::vector<grant_stamp>& grants, std::int64_t at_ns) {
  const auto next = first_after(grants, at_ns);
  return next == grants.end() ? std::nullopt : std::optional{*next};
}

void find_next(const disruption& b, const std::vector<grant_stamp>& grants, const demands& keys,
               aftermath& a) {
  std::optional<grant_stamp> next = next_grant(grants, b.at_ns);
  const bool shared = b.held_key && !b.keys_of_their_own;
  if (const auto held = shared ? keys.find(*b.held_key) : keys.end(); held != keys.end()) {
    const auto of_key = next_grant(held->second.grants, b.at_ns);
    if (of_key || held->second.unserved_ns) next = of_key;
    a.keys = 1;
    a.keys_never = next ? 0 : 1;
  }
  if (!next) return;
  a.recovery_ns = next->at_ns - b.at_ns;
  a.asked_ns = std::max<std::int64_t>(0, next->wanted_ns - b.at_ns);
}

// A time in which a key was asked for and not granted.
struct outage {
  std::int64_t length_ns = 0;
  std::optional<std::int64_t> ended_ns;
};

// The longest of those that began before the servers had settled, and before `until_ns`.
std::optional<outage> longest_of(const disruption& b, const demand& of_key, std::int64_t until_ns,
                                 std::int64_t end_ns) {
  const std::int64_t settled_ns = b.at_ns + std::max(settling_ns, b.takes_ns);
  std::optional<outage> longest;
  std::int64_t before_ns = b.at_ns;
  // Returns whether a later one may be longer.
  const auto see = [&](std::int64_t wanted_ns, std::int64_t granted_ns) {
    const std::int64_t from_ns = std::max(before_ns, wanted_ns);
    if (from_ns > settled_ns || from_ns >= until_ns) return false;
    const bool ended = granted_ns < end_ns;
    const std::int64_t length_ns = granted_ns - from_ns;
    if (!longest || length_ns > longest->length_ns) {
      longest = {length_ns, ended ? std::optional{granted_ns} : std::nullopt};
    }
    before_ns = granted_ns;
    return ended;
  };
  for (auto g = first_after(of_key.grants, b.at_ns); g != of_key.grants.end(); ++g) {
    if (!see(g->wanted_ns, g->at_ns)) return longest;
  }
  if (of_key.unserved_ns) see(*of_key.unserved_ns, end_ns);
  return longest;
}

void find_outages(const disruption& b, const demands& keys, std::int64_t until_ns,
                  std::int64_t end_ns, aftermath& a) {
  std::int64_t last_ns = b.at_ns;
  for (const auto& [key, of_key] : keys) {
    if (b.on_a_client && key == b.held_key) continue;
    const auto longest = longest_of(b, of_key, until_ns, end_ns);
    if (!longest) continue;
    ++a.keys;
    if (!longest->ended_ns) ++a.keys_never;
    last_ns = std::max(last_ns, longest->ended_ns.value_or(last_ns));
  }
  if (a.keys > 0 && a.keys_never == 0) a.recovery_ns = last_ns - b.at_ns;
}

// Until the next disruption that is not one with this one: what begins then may be that one's.
std::int64_t end_of_effect(const std::vector<disruption>& all, std::size_t which,
                           std::int64_t end_ns) {
  const std::int64_t together_ns = all[which].at_ns + settling_ns;
  const auto next = std::find_if(all.begin() + static_cast<std::ptrdiff_t>(which), all.end(),
                                 [&](const disruption& d) { return d.at_ns > together_ns; });
  return next == all.end() ? end_ns : next->at_ns;
}

std::uint64_t count_between(const std::vector<std::int64_t>& all_ns, std::int64_t from_ns,
                            std::int64_t to_ns) {
  const auto first = std::lower_bound(all_ns.begin(), all_ns.end(), from_ns);
  const auto last = std::lower_bound(first, all_ns.end(), to_ns);
  return static_cast<std::uint64_t>(last - first);
}

}  // namespace

void grant_log::began(const event& e) {
  key_demand& k = keys_[e.key];
  ++k.waiters;
  if (k.wanted_ns == never) k.wanted_ns = e.at_ns;
}

void grant_log::ended(const event& e) {
  --keys_[e.key].waiters;
}

void grant_log::granted(const event& e) {
  key_demand& k = keys_[e.key];
  --k.waiters;
  last_of_client_[e.client] = grants_.size();
  grants_.push_back({e.at_ns, e.client, e.key, k.wanted_ns});
  k.wanted_ns = k.waiters > 0 ? e.at_ns : never;
}

void grant_log::released(const event& e) {
  const std::size_t last = last_of_client_[e.client];
  if (last != none) grants_[last].released_ns = e.at_ns;
}

std::vector<unserved_key> grant_log::unserved() const {
  std::vector<unserved_key> all;
  for (std::uint32_t k = 0; k < keys_.size(); ++k) {
    if (keys_[k].wanted_ns != never) all.push_back({k, keys_[k].wanted_ns});
  }
  return all;
}

std::vector<aftermath> find_aftermath(const std::vector<disruption>& disruptions,
                                      const std::vector<grant_stamp>& grants,
                                      const std::vector<unserved_key>& unserved,
                                      const std::vector<std::int64_t>& violations_ns,
                                      std::int64_t end_ns) {
  const demands keys = by_key(grants, unserved);
  std::vector<aftermath> all;
  for (std::size_t i = 0; i < disruptions.size(); ++i) {
    const disruption& b = disruptions[i];
    const std::int64_t until_ns = i + 1 < disruptions.size() ? disruptions[i + 1].at_ns : end_ns;
    aftermath a;
    if (!b.on_a_client || b.keys_of_their_own) {
      find_outages(b, keys, end_of_effect(disruptions, i, end_ns), end_ns, a);
    }
    // Also if nobody asked for a key of its own so soon.
    if (b.on_a_client && a.keys == 0) find_next(b, grants, keys, a);
    a.violations = count_between(violations_ns, b.at_ns, until_ns);
    all.push_back(a);
  }
  return all;
}

}  // namespace lockmark::check
