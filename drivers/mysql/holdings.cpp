#include "drivers/mysql/holdings.hpp"

namespace lockmark::mysql {

hold* holdings::find(request r) {
  member& m = members_[r.client];
  const auto held = m.holds.find(r.key);
  if (held == m.holds.end()) return nullptr;
  if (!held->second.link->broken()) return &held->second;
  m.lost = true;
  links_.give_back(r.client, *held->second.link);
  m.holds.erase(held);
  return nullptr;
}

void holdings::taken(request r, connection& c) {
  members_[r.client].holds[r.key] = hold{&c, 1};
  members_[r.client].lost = false;
}

bool holdings::alive() const {
  for (const member& m : members_) {
    if (m.lost) return false;
    for (const auto& [key, h] : m.holds) {
      if (h.link->broken()) return false;
    }
  }
  return true;
}

}  // namespace lockmark::mysql
