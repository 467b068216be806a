#include "harness/run/actor.hpp"

#include <algorithm>
#include <limits>

#include "harness/pace/schedule.hpp"

namespace lockmark::run {
namespace {

using namespace std::chrono_literals;

// A client without a reachable server must not hammer the network.
constexpr duration least_pause_when_unavailable = 10ms;

// How often a careful holder asks whether its session lives.
constexpr duration look_at_session = 10ms;

counter counter_of(refusal r) {
  switch (r) {
    case refusal::busy: return counter::refused_busy;
    case refusal::conflict: return counter::refused_conflict;
    case refusal::unavailable: return counter::unavailable;
    case refusal::deadline:
    case refusal::not_owner: break;
  }
  return counter::refused_deadline;
}

}  // namespace

actor::actor(const stage& s, session& lock, std::uint32_t number, std::uint32_t within)
    : stage_(s),
      lock_(lock),
      number_(number),
      within_(within),
      random_(s.job.seed, number),
      wake_(s.where) {}

void actor::draw_plan(stats::random_source& from) {
  plan_.key = static_cast<std::uint32_t>(stage_.keys(from, number_));
  plan_.hold = stage_.job.hold.sample(from);
  plan_.wait = stage_.job.wait;
  plan_.depth = static_cast<std::uint32_t>(stage_.job.reentrancy);
  // Not drawn without need, so that all else is drawn as before.
  const double read_share = stage_.job.read_share;
  plan_.shared = read_share > 0 && from.uniform01() < read_share;
}

void actor::begin(time_point intended, lateness why, std::optional<std::uint64_t> arrival) {
  if (arrival) {
    auto its = pace::random_of_arrival(stage_.job.seed, *arrival);
    draw_plan(its);
  } else {
    draw_plan(random_);
  }
  intended_ = intended;
  why_late_ = why;
  counted_ = stage_.window.contains(to_ns(intended));
  in_attempt_ = true;
  in_no_call();
  started_ = false;
  ending_ = ending::open;
  failures_ = 0;
}

void actor::end() {
  if (ending_ != ending::granted) finish(stage_.where.now());
  in_attempt_ = false;
}

// A request that threw may have succeeded: it ends in doubt. The hold ends now, since nobody will
// release it before the run's names are wiped.
void actor::give_up() {
  if (!in_attempt_) return;
  const time_point now = stage_.where.now();
  if (holding_) note_release(now);
  if (ending_ != ending::granted) missed(doubt::connection_lost);
  if (stage_.lock_has.has(feature::optimistic)) note(check::event_kind::doubtful, now, token_);
  finish(now);
  in_attempt_ = false;
}

task<void> actor::pause_until(time_point when) {
  wake_.clear();
  co_await wake_.wait_until(when);
}

void actor::hurry() {
  hurry_ = true;
  wake_.set();
}

void actor::note(check::event_kind kind, time_point at, std::uint64_t token) {
  stage_.journal.note({to_ns(at), token, plan_.key, number_, kind, false, plan_.shared});
}

void actor::note_grant(duration pipe) {
  check::event e{to_ns(granted_), token_, plan_.key, number_, check::event_kind::granted};
  e.shared = plan_.shared;
  constexpr std::int64_t most_ns = std::numeric_limits<std::uint32_t>::max();
  e.pipe_ns = static_cast<std::uint32_t>(std::min<std::int64_t>(pipe.count(), most_ns));
  stage_.journal.note(e);
}

void actor::note_release(time_point at) {
  stage_.journal.note({to_ns(at), token_, plan_.key, number_, check::event_kind::released,
                       stage_.where.turn() != turn_of_grant_, plan_.shared});
}

void actor::note(check::event_kind kind, time_point at, check::answer how) {
  note(kind, at, static_cast<std::uint64_t>(how));
}

// For a call that does not wait for other clients: it only needs an answer.
request actor::prompt_request(time_point now) {
  return due_by({plan_.key, within_, stage_.job.lease, now + stage_.job.command_timeout, {}});
}

request actor::make_request(time_point deadline) {
  return due_by({plan_.key, within_, stage_.job.lease, deadline, stage_.job.command_timeout});
}

request actor::due_by(request r) {
  r.shared = plan_.shared;
  due_ = r.answer_by();
  return r;
}

request actor::ask() {
  count(counter::tries);
  if (started_) return make_request(sent_ + plan_.wait);
  started_ = true;
  sent_ = stage_.where.now();
  record(why_late_ == lateness::timer ? series::timer_lag : series::queue_lag, sent_ - intended_);
  in_flight_ = true;
  gauges::add(stage_.gauges.in_flight, 1);
  note(check::event_kind::began, sent_,
       static_cast<std::uint64_t>(to_ns(sent_) - to_ns(intended_)));
  return make_request(sent_ + plan_.wait);
}

bool actor::answered(const outcome<grant>& answer) {
  if (answer.done()) {
    granted_ = stage_.where.now();
    token_ = answer.value().token;
    lease_ends_ = answer.value().valid_until;
    got_it(granted_, answer.value().pipe);
    if (answer.value().pipe_unknown) record(series::pipe, duration::zero());
    turn_of_grant_ = stage_.where.turn();
    holding_ = true;
    gauges::add(stage_.gauges.holding, 1);
    note_grant(answer.value().pipe);
    promise(granted_);
    if (stage_.guard != nullptr && !must_stop(granted_)) {
      had_read_ = stage_.guard->read(plan_.key, token_);
    }
    return true;
  }
  return missed(answer);
}

void actor::got_it(time_point at, duration pipe) {
  ending_ = ending::granted;
  reached(at);
  gauges::add(stage_.gauges.granted, 1);
  count(counter::granted);
  record(series::response, at - intended_ - pipe);
  record(series::service, at - sent_ - pipe);
  if (pipe > duration::zero()) record(series::pipe, pipe);
}

void actor::missed(refusal r) {
  ending_ = ending::refused;
  refusal_ = r;
  ++failures_;
  const time_point now = stage_.where.now();
  if (r == refusal::unavailable) {
    failed(now);
  } else {
    reached(now);
  }
  note(check::event_kind::refused, now, static_cast<std::uint64_t>(r));
}

void actor::missed(doubt d) {
  ending_ = ending::doubt;
  doubt_ = d;
  failed(stage_.where.now());
}

task<bool> actor::retry() {
  in_no_call();
  if (ending_ != ending::refused || refusal_ == refusal::deadline || hurry_) co_return false;
  auto pause = stage_.job.retry.next_pause(failures_, random_);
  if (refusal_ == refusal::unavailable) {
    pause = std::max(pause.value_or(0ns), least_pause_when_unavailable);
  }
  if (!pause) co_return false;
  const time_point next = stage_.where.now() + *pause;
  if (next >= sent_ + plan_.wait) {
    if (refusal_ == refusal::busy) refusal_ = refusal::deadline;
    co_return false;
  }
  if (*pause > 0ns) {
    co_await stage_.where.sleep_until(next);
  } else {
    co_await stage_.where.yield();
  }
  co_return true;
}

task<void> actor::hold() {
  const time_point until = stage_.where.now() + plan_.hold;
  const bool renews = stage_.job.renew && stage_.lock_has.has(feature::renewable);
  const bool looks = stage_.job.holder == config::holder_kind::careful;
  time_point renew_at = stage_.where.now() + stage_.job.lease / 3;
  in_no_call();
  while (!hurry_) {
    const time_point now = stage_.where.now();
    if (now >= until) break;
    if (must_stop(now)) {
      count(counter::holds_stopped);
      break;
    }
    if (renews && now >= renew_at) {
      co_await renew(renew_at);
      renew_at = stage_.where.now() + stage_.job.lease / 3;
      continue;
    }
    time_point next = renews ? std::min(until, renew_at) : until;
    if (looks) next = std::min(next, std::min(lease_ends_, now + look_at_session));
    co_await pause_until(next);
  }
}

task<void> actor::renew(time_point due) {
  const request r = prompt_request(stage_.where.now());
  const auto answer = co_await lock_.renew(r);
  const time_point now = stage_.where.now();
  count(answer.done() ? counter::renewals : counter::renewals_lost);
  if (now > lease_ends_) count(counter::renewals_late);
  if (answer.done()) {
    lease_ends_ = answer.value().valid_until;
    promise(now);
  }
  record(series::renewal, now - due);
  in_no_call();
}

// What a client can know by itself. It cannot know that it was stopped between a look and what it
// does next: here that is one turn of the loop.
bool actor::must_stop(time_point now) const {
  if (stage_.job.holder == config::holder_kind::careless) return false;
  return now >= lease_ends_ || !lock_.alive();
}

// A careful holder that is stopped, and goes on when its lease is over, has not held the key
// meanwhile: it knew beforehand when to end.
void actor::promise(time_point at) {
  if (stage_.job.holder == config::holder_kind::careless) return;
  if (lease_ends_ == time_point::max()) return;
  note(check::event_kind::promised, at, static_cast<std::uint64_t>(to_ns(lease_ends_)));
}

request actor::nested() {
  return make_request(stage_.where.now() + plan_.wait);
}

void actor::broke(std::string_view) {
  count(counter::broken_promises);
}

request actor::giving_back() {
  release_sent_ = stage_.where.now();
  if (stage_.guard != nullptr && !must_stop(release_sent_)) {
    stage_.guard->write(plan_.key, token_, had_read_);
  }
  record(series::hold, release_sent_ - granted_);
  note_release(release_sent_);
  leave();
  return prompt_request(release_sent_);
}

void actor::gave_back(const outcome<nothing>& answer) {
  const time_point now = stage_.where.now();
  record(series::release, now - release_sent_);
  if (answer.in_doubt()) {
    count(counter::release_doubt);
  } else if (answer.refused(refusal::unavailable)) {
    count(counter::release_unavailable);
  } else if (answer.refused()) {
    count(counter::release_not_owner);
  }
  if (stage_.notes_answers) {
    note(check::event_kind::answered, now,
         answer.done()      ? check::answer::done
         : answer.refused() ? check::answer::refused
                            : check::answer::in_doubt);
  }
  finish(now);
}

bool actor::read(const outcome<grant>& answer) {
  if (answer.done()) {
    token_ = answer.value().token;
    granted_ = stage_.where.now();
    return true;
  }
  return missed(answer);
}

request actor::committing() {
  release_sent_ = stage_.where.now();
  record(series::hold, release_sent_ - granted_);
  return prompt_request(release_sent_);
}

bool actor::committed(const outcome<nothing>& answer) {
  const time_point now = stage_.where.now();
  if (answer.done()) {
    record(series::release, now - release_sent_);
    got_it(now);
    note(check::event_kind::committed, now, token_);
    finish(now);
    return true;
  }
  if (answer.in_doubt()) note(check::event_kind::doubtful, now, token_);
  return missed(answer);
}

void actor::leave() {
  if (in_flight_) gauges::add(stage_.gauges.in_flight, -1);
  in_flight_ = false;
  if (holding_) gauges::add(stage_.gauges.holding, -1);
  holding_ = false;
}

void actor::finish(time_point at) {
  finished_ = at;
  leave();
  gauges::add(stage_.gauges.finished, 1);
  if (counted_) gauges::add(stage_.gauges.counted, 1);
  if (ending_ == ending::granted) return;
  if (started_) {
    const bool certain = ending_ == ending::refused;
    note(check::event_kind::ended, at, certain ? check::answer::refused : check::answer::in_doubt);
  }
  count(ending_ == ending::refused  ? counter_of(refusal_)
        : doubt_ == doubt::deadline ? counter::doubt_deadline
                                    : counter::doubt_lost);
}

}  // namespace lockmark::run
