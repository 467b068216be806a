#include "harness/check/exposure.hpp"

#include <algorithm>

#include "harness/outcome.hpp"

namespace lockmark::check {

exposure::exposure(std::size_t keys, std::size_t clients, std::size_t competitors,
                   std::uint32_t holders)
    : keys_(keys),
      place_(clients, none),
      counted_(clients),
      looks_(competitors > 1 && holders > 0),
      most_holders_(holders) {}

bool exposure::taken_by_others(const key_state& key, std::uint32_t client) const {
  std::size_t others = 0;
  for (std::size_t n = 0; n < key.holders.size(); ++n) {
    const std::uint32_t each = key.holders[n];
    const auto before = key.holders.begin() + static_cast<std::ptrdiff_t>(n);
    if (each == client || std::find(key.holders.begin(), before, each) != before) continue;
    if (++others == most_holders_) return true;
  }
  return false;
}

void exposure::leave(key_state& key, std::uint32_t client) {
  const std::uint32_t at = place_[client];
  if (at == none) return;
  const std::uint32_t last = key.under_way.back();
  key.under_way[at] = last;
  place_[last] = at;
  key.under_way.pop_back();
  place_[client] = none;
}

void exposure::count_answer(const event& e) {
  key_state& key = keys_[e.key];
  if (!counted_[e.client] && taken_by_others(key, e.client)) ++chances_;
  counted_[e.client] = false;  // the next try is another request
  leave(key, e.client);
}

void exposure::began(const event& e) {
  if (!looks_) return;
  key_state& key = keys_[e.key];
  leave(key, e.client);  // a history that was cut may lack the end
  counted_[e.client] = false;
  place_[e.client] = static_cast<std::uint32_t>(key.under_way.size());
  key.under_way.push_back(e.client);
}

// Where no server answered, none can have granted.
void exposure::refused(const event& e) {
  switch (static_cast<refusal>(e.token)) {
    case refusal::conflict: ++chances_; return;
    case refusal::busy:
    case refusal::deadline:
      if (looks_) count_answer(e);
      return;
    case refusal::not_owner:
    case refusal::unavailable: return;
  }
}

void exposure::ended(const event& e) {
  if (looks_) leave(keys_[e.key], e.client);
}

void exposure::granted(const event& e) {
  if (!looks_) return;
  count_answer(e);
  keys_[e.key].holders.push_back(e.client);
}

void exposure::released(const event& e) {
  const bool lasted = e.lasted || e.kind == event_kind::died;
  lasting_ += lasted ? 1 : 0;
  if (!looks_) return;
  key_state& key = keys_[e.key];
  if (lasted) {
    std::vector<std::uint32_t> uncounted;
    for (const std::uint32_t client : key.under_way) {
      place_[client] = none;
      const bool met = client != e.client && taken_by_others(key, client);
      if (met) {
        ++chances_;
        counted_[client] = true;
      } else {
        place_[client] = static_cast<std::uint32_t>(uncounted.size());
        uncounted.push_back(client);
      }
    }
    key.under_way.swap(uncounted);
  }
  const auto mine = std::find(key.holders.begin(), key.holders.end(), e.client);
  if (mine != key.holders.end()) key.holders.erase(mine);
}

}  // namespace lockmark::check
