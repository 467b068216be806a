#include "harness/check/cut_history.hpp"

namespace lockmark::check {

cut_history::state& cut_history::state_of(std::uint32_t client) {
  const std::size_t instance = client / clients_ / processes_;
  const std::size_t place = instance * clients_ + client % clients_;
  if (place >= states_.size()) states_.resize(place + 1);
  return states_[place];
}

void cut_history::see(const event& e) {
  last_ns_ = e.at_ns;
  state& s = state_of(e.client);
  switch (e.kind) {
    case event_kind::began: s = {0, e.client, e.key, doing::attempt}; return;
    case event_kind::granted: s = {e.token, e.client, e.key, doing::hold}; return;
    case event_kind::doubtful: s.what = doing::doubted_commit; return;
    case event_kind::released: s.what = notes_answers_ ? doing::release : doing::nothing; return;
    case event_kind::ended:
    case event_kind::committed:
    case event_kind::answered:
    case event_kind::died: s.what = doing::nothing; return;
    case event_kind::refused:
    case event_kind::promised: return;
  }
}

std::vector<event> cut_history::ends_at(std::int64_t at_ns) const {
  constexpr auto in_doubt = static_cast<std::uint64_t>(answer::in_doubt);
  std::vector<event> ends;
  for (const state& s : states_) {
    if (s.what == doing::nothing) continue;
    if (s.what == doing::hold) {
      ends.push_back({at_ns, s.token, s.key, s.client, event_kind::died});
      continue;
    }
    if (s.what == doing::release) {
      ends.push_back({at_ns, in_doubt, s.key, s.client, event_kind::answered});
      continue;
    }
    if (s.what == doing::attempt && optimistic_) {
      ends.push_back({at_ns, 0, s.key, s.client, event_kind::doubtful});
    }
    ends.push_back({at_ns, in_doubt, s.key, s.client, event_kind::ended});
    ends.back().cut = true;
  }
  return ends;
}

}  // namespace lockmark::check
