#include "harness/check/exposure.hpp"

#include <algorithm>

#include "harness/outcome.hpp"

namespace lockmark::check {

exposure::exposure(std::size_t keys, std::size_t clients, std::size_t competitors,
                   std::uint32_t holders)
    : keys_(keys),
      requests_(clients),
      looks_(competitors > 1 && holders > 0),
      most_holders_(holders) {}

bool exposure::taken_by_others(const key_state& key, std::uint32_t client) const {
  std::size_t others = 0;
  for (std::size_t n = 0; n < key.holders.size(); ++n) {
    const holder& each = key.holders[n];
    if (each.client == client || (each.shared && requests_[client].shared)) continue;
    const auto before = key.holders.begin() + static_cast<std::ptrdiff_t>(n);
    const auto is_same = [&](const holder& h) { return h.client == each.client; };
    if (std::any_of(key.holders.begin(), before, is_same)) continue;
    if (++others == most_holders_) return true;
  }
  return false;
}

void exposure::leave(std::uint32_t client) {
  request& gone = requests_[client];
  if (gone.place == none) return;
  std::vector<std::uint32_t>& under_way = keys_[gone.key].under_way;
  const std::uint32_t last = under_way.back();
  under_way[gone.place] = last;
  requests_[last].place = gone.place;
  under_way.pop_back();
  gone.place = none;
}

void exposure::count_answer(const event& e) {
  request& answered = requests_[e.client];
  if (!answered.counted && taken_by_others(keys_[e.key], e.client)) ++chances_;
  answered.counted = false;  // the next try is another request
  leave(e.client);
}

void exposure::began(const event& e) {
  if (!looks_) return;
  leave(e.client);  // a history that was cut may lack the end
  std::vector<std::uint32_t>& under_way = keys_[e.key].under_way;
  requests_[e.client] = {e.key, static_cast<std::uint32_t>(under_way.size()), false, e.shared};
  under_way.push_back(e.client);
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
  if (looks_) leave(e.client);
}

void exposure::granted(const event& e) {
  if (!looks_) return;
  count_answer(e);
  keys_[e.key].holders.push_back({e.client, e.shared});
}

void exposure::released(const event& e) {
  const bool lasted = e.lasted || e.kind == event_kind::died;
  lasting_ += lasted ? 1 : 0;
  if (!looks_) return;
  key_state& key = keys_[e.key];
  if (lasted) {
    std::vector<std::uint32_t> uncounted;
    for (const std::uint32_t client : key.under_way) {
      requests_[client].place = none;
      const bool met = client != e.client && taken_by_others(key, client);
      if (met) {
        ++chances_;
        requests_[client].counted = true;
      } else {
        requests_[client].place = static_cast<std::uint32_t>(uncounted.size());
        uncounted.push_back(client);
      }
    }
    key.under_way.swap(uncounted);
  }
  const auto mine = std::find_if(key.holders.begin(), key.holders.end(),
                                 [&](const holder& h) { return h.client == e.client; });
  if (mine != key.holders.end()) key.holders.erase(mine);
}

}  // namespace lockmark::check
