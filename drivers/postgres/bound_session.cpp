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

std::vector<const statement*> bound_lock::prepared() const {
  if (in_transaction) return {&limit, &begin, &lock, &commit, &rollback};
  return {&limit, &lock, &unlock};
}

task<outcome<grant>> bound_session::acquire(request r) {
  if (loop_.now() >= r.deadline) co_return refusal::unavailable;  // too late to ask
  hold* const held = find(r);
  if (held != nullptr && lock_.in_transaction) {
    ++held->depth;
    co_return grant{};
  }
  connection* c = held != nullptr ? held->link : pool_.at_hand(r.client);
  if (c == nullptr) {
    const outcome<connection*> lent = co_await pool_.borrow(r.client, r.deadline);
    if (!lent.done()) co_return lent.without_value<grant>();
    c = lent.value();
  }
  send_lock(*c, r);
  co_await c->ended(std::max(r.answer_by(), r.deadline + round_trip_limit));
  const answer a = c->answered();
  outcome<grant> end = a.done() ? lock_.judge(a) : failed(*c, a);
  const bool may_be_taken = lock_.in_transaction || (!a.done() && held == nullptr);
  if (end.refused() && may_be_taken) {
    const bool undone = co_await undo(*c, r);
    if (!undone && !lock_.in_transaction) end = doubt::connection_lost;
  }
  if (end.done() && held == nullptr) {
    members_[r.client].holds.push_back({r.key, c, 1});
    members_[r.client].lost = false;
  } else if (end.done()) {
    ++held->depth;
  } else if (held == nullptr) {
    pool_.give_back(r.client, *c);
  }
  co_return end;
}

// A wait in the server is ended by the server itself at the request's deadline, rounded up to a
// millisecond: lock_timeout is set beforehand, in the same round trip, unless it is right already.
void bound_session::send_lock(connection& c, request r) const {
  const step lock = execution(lock_.lock, lock_.values[r.key]);
  const step begin = execution(lock_.begin);
  const std::int64_t needed = left_ms(r.deadline - loop_.now());
  const bool is_set = c.lock_timeout_ms >= needed && c.lock_timeout_ms <= needed + late_end.count();
  if (!lock_.waits || is_set) return lock_.in_transaction ? c.send({begin, lock}) : c.send(lock);
  // Of a session that is another's, too, only this transaction is touched.
  const std::string ms = fmt::format("{}", needed);
  const std::string only_now = c.is_pooled() ? "t" : "f";
  const step limit = execution(lock_.limit, ms, only_now);
  c.lock_timeout_ms = c.is_pooled() ? 0 : needed;
  lock_.in_transaction ? c.send({begin, limit, lock}) : c.send({limit, lock});
}

// The lock was certainly not taken, unless the answer is unknown.
outcome<grant> bound_session::failed(connection& c, const answer& a) const {
  c.lock_timeout_ms = 0;  // rolled back with the statement
  if (a.unknown) return *a.unknown;
  if (is_permanent(a.sqlstate)) throw no_server(sentence(c.where(), "take a lock", a));
  if (is_for_another_server(a.sqlstate) || is_of_a_spoilt_session(a.sqlstate)) c.drop();
  if (a.sqlstate == state::lock_not_available && lock_.waits) return refusal::deadline;
  return is_conflict(a.sqlstate) ? refusal::busy : refusal::unavailable;
}

// A transaction has to be ended. A session may have the lock although its statement failed: a limit
// of the wait that runs out as the lock is granted is reported after the grant.
task<bool> bound_session::undo(connection& c, request r) const {
  if (!c.connected()) co_return true;  // it may only be read, so there is no lock
  c.send(lock_.in_transaction ? execution(lock_.rollback)
                              : execution(lock_.unlock, lock_.values[r.key]));
  co_await c.ended(std::max(r.answer_by(), loop_.now() + round_trip_limit));
  const answer a = c.answered();
  if (!a.done()) c.drop();
  co_return a.done();
}

task<outcome<nothing>> bound_session::release(request r) {
  hold* const held = find(r);
  if (held == nullptr) co_return refusal::not_owner;
  connection& c = *held->link;
  const unsigned depth = --held->depth;
  if (depth > 0 && lock_.in_transaction) co_return nothing{};
  if (depth == 0) forget(r);
  c.send(lock_.in_transaction ? execution(lock_.commit)
                              : execution(lock_.unlock, lock_.values[r.key]));
  co_await c.ended(r.answer_by());
  const answer a = c.answered();
  const outcome<nothing> end = judge_release(c, a);
  if (depth == 0) pool_.give_back(r.client, c);
  if (!end.done()) members_[r.client].lost = true;
  co_return end;
}

// A connection without an answer is cut: the server then frees the lock when it notices.
outcome<nothing> bound_session::judge_release(connection& c, const answer& a) const {
  if (!a.done()) {
    c.drop();
    return a.unknown.value_or(doubt::connection_lost);
  }
  if (!lock_.in_transaction && !a.at(0, 1).truth(0)) return refusal::not_owner;
  return nothing{};
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

}  // namespace lockmark::postgres
