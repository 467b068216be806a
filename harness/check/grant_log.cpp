#include "harness/check/grant_log.hpp"

namespace lockmark::check {

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

}  // namespace lockmark::check
