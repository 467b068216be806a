#include "drivers/mysql/bound_session.hpp"

namespace lockmark::mysql {

task<outcome<grant>> bound_session::acquire(request r) {
  if (loop_.now() >= r.deadline) co_return refusal::unavailable;  // too late to ask
  if (hold* const held = find(r)) {
    const outcome<grant> again = co_await take(*held->link, r, held->depth);
    if (again.done()) ++held->depth;
    co_return again;
  }
  const outcome<connection*> lent = co_await pool_.borrow(r.client, r.deadline);
  if (!lent.done()) co_return lent.without_value<grant>();
  connection& c = *lent.value();
  const outcome<grant> end = co_await take(c, r, 0);
  if (end.done()) {
    members_[r.client].holds[r.key] = hold{&c, 1};
    members_[r.client].lost = false;
  } else {
    pool_.give_back(r.client, c);
  }
  co_return end;
}

task<outcome<nothing>> bound_session::release(request r) {
  hold* const held = find(r);
  if (held == nullptr) co_return refusal::not_owner;
  connection& c = *held->link;
  const unsigned depth = --held->depth;
  if (depth == 0) members_[r.client].holds.erase(r.key);
  const outcome<nothing> end = co_await give(c, r, depth);
  if (depth == 0) pool_.give_back(r.client, c);
  if (!end.done()) members_[r.client].lost = true;
  co_return end;
}

bool bound_session::alive() const {
  for (const member& m : members_) {
    if (m.lost) return false;
    for (const auto& [key, h] : m.holds) {
      if (h.link->broken()) return false;
    }
  }
  return true;
}

task<void> bound_session::close() {
  pool_.quit();
  killer_.quit();
  co_return;
}

// The hold of the request's client on its key, if any. A hold whose connection has broken is lost:
// it is noted, and its connection given back.
bound_session::hold* bound_session::find(request r) {
  member& m = members_[r.client];
  const auto held = m.holds.find(r.key);
  if (held == m.holds.end()) return nullptr;
  if (!held->second.link->broken()) return &held->second;
  m.lost = true;
  pool_.give_back(r.client, *held->second.link);
  m.holds.erase(held);
  return nullptr;
}

}  // namespace lockmark::mysql
