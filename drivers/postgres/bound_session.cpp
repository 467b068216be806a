#include "drivers/postgres/bound_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "drivers/postgres/errors.hpp"

namespace lockmark::postgres {
namespace {

using std::chrono::milliseconds;

constexpr duration round_trip_limit = milliseconds{250};

// A wait may end this much after its deadline, so that the next one need not say when it ends.
constexpr milliseconds late_end{10};

std::int64_t left_ms(duration left) {
  constexpr std::int64_t longest = std::numeric_limits<std::int32_t>::max();
  return std::clamp<std::int64_t>(std::chrono::ceil<milliseconds>(left).count(), 1, longest);
}

}  // namespace

task<outcome<grant>> bound_session::acquire(request r) {
  if (loop_.now() >= r.deadline) co_return refusal::unavailable;  // too late to ask
  if (hold* const held = find(r)) {
    const outcome<grant> again = co_await take(*held->link, r, held->depth);
    if (again.done()) ++held->depth;
    co_return again;
  }
  connection* c = pool_.at_hand(r.client);
  if (c == nullptr) {
    const outcome<connection*> lent = co_await pool_.borrow(r.client, r.deadline);
    if (!lent.done()) co_return lent.without_value<grant>();
    c = lent.value();
  }
  const outcome<grant> end = co_await take(*c, r, 0);
  if (end.done()) {
    members_[r.client].holds.push_back({r.key, c, 1});
    members_[r.client].lost = false;
  } else {
    pool_.give_back(r.client, *c);
  }
  co_return end;
}

task<outcome<nothing>> bound_session::release(request r) {
  hold* const held = find(r);
  if (held == nullptr) co_return refusal::not_owner;
  connection& c = *held->link;
  const unsigned depth = --held->depth;
  if (depth == 0) forget(r);
  const outcome<nothing> end = co_await give(c, r, depth);
  if (depth == 0) pool_.give_back(r.client, c);
  if (!end.done()) members_[r.client].lost = true;
  co_return end;
}

bool bound_session::alive() const {
  return std::ranges::none_of(members_, [](const member& m) {
    return m.lost || std::ranges::any_of(m.holds, [](const hold& h) { return h.link->broken(); });
  });
}

// The hold of the request's client on its key, if any. A hold whose connection has broken is lost:
// it is noted, and its connection given back.
bound_session::hold* bound_session::find(request r) {
  member& m = members_[r.client];
  const auto held = std::ranges::find(m.holds, r.key, &hold::key);
  if (held == m.holds.end()) return nullptr;
  if (!held->link->broken()) return &*held;
  m.lost = true;
  pool_.give_back(r.client, *held->link);
  forget(r);
  return nullptr;
}

void bound_session::forget(request r) {
  std::erase_if(members_[r.client].holds, [&](const hold& h) { return h.key == r.key; });
}

void bound_session::send_lock(connection& c, request r, const step& lock, bool in_transaction,
                              bool waits) {
  const std::int64_t needed = left_ms(r.deadline - loop_.now());
  const bool is_set = c.lock_timeout_ms >= needed && c.lock_timeout_ms <= needed + late_end.count();
  const step begin = execution(frame_.begin);
  if (!waits || is_set) return in_transaction ? c.send({begin, lock}) : c.send(lock);
  // Of a session that is another's, too, only this transaction is touched.
  const std::string ms = fmt::format("{}", needed);
  const std::string only_now = c.is_pooled() ? "t" : "f";
  const step limit = execution(frame_.limit, ms, only_now);
  c.lock_timeout_ms = c.is_pooled() ? 0 : needed;
  in_transaction ? c.send({begin, limit, lock}) : c.send({limit, lock});
}

time_point bound_session::lock_answer_by(request r) const {
  return std::max(r.answer_by(), r.deadline + round_trip_limit);
}

outcome<grant> bound_session::failed(connection& c, const answer& a, bool waits,
                                     std::string_view doing) const {
  c.lock_timeout_ms = 0;  // rolled back with the statement
  if (a.unknown) return *a.unknown;
  if (is_permanent(a.sqlstate)) throw no_server(sentence(c.where(), doing, a));
  if (is_for_another_server(a.sqlstate) || is_of_a_spoilt_session(a.sqlstate)) c.drop();
  if (a.sqlstate == state::lock_not_available) {
    return waits ? refusal::deadline : refusal::busy;
  }
  return is_conflict(a.sqlstate) ? refusal::busy : refusal::unavailable;
}

task<outcome<nothing>> bound_session::commit(connection& c, request r) {
  c.send(execution(frame_.commit));
  const answer a = co_await c.take(r.answer_by());
  if (a.done()) co_return nothing{};
  c.drop();  // ends the transaction, whatever became of the COMMIT
  co_return a.unknown.value_or(doubt::connection_lost);
}

task<outcome<grant>> bound_session::roll_back(connection& c, request r, outcome<grant> why) {
  if (!c.connected()) co_return why;
  c.send(execution(frame_.rollback));
  const answer a = co_await c.take(std::max(r.answer_by(), loop_.now() + round_trip_limit));
  if (!a.done()) c.drop();
  co_return why;
}

}  // namespace lockmark::postgres
