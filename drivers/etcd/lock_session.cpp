#include "drivers/etcd/lock_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "drivers/etcd/paths.hpp"
#include "harness/async/lanes.hpp"

namespace lockmark::etcd {
namespace {

using namespace std::chrono_literals;

constexpr duration one_round_trip = 700ms;
constexpr duration revoking_within = 2s;  // at close
constexpr duration look_again = 50ms;     // after a read that failed

}  // namespace

limits::limits(const request& r)
    : wait_until(r.deadline), answer_by(std::max(r.answer_by(), r.deadline + one_round_trip)) {}

lock_session::lock_session(loop& l, const instance& who, const session_setup& setup)
    : loop_(l),
      setup_(setup),
      tasks_(l),
      channel_(channel::open(l, tasks_, *setup_.where, who.number, count_)),
      leases_(l, tasks_, *channel_, count_),
      watches_(l, *channel_, count_) {}

task<void> lock_session::connect(instance who, time_point deadline) {
  const time_point by = std::min(deadline, loop_.now() + who.login_within);
  const bool up = co_await channel_->connected_by(by);
  if (!up) throw channel_->unreachable();
  const std::function<task<void>(std::size_t)> each = [this, &who, by](std::size_t client) {
    return prepare_client(static_cast<std::uint32_t>(client), who, by);
  };
  co_await in_lanes(loop_, who.clients, who.logins, each);
}

task<void> lock_session::prepare_client(std::uint32_t client, instance who, time_point deadline) {
  const held_lease made = co_await lease_of(client, deadline);
  if (!made) throw channel_->unreachable();
  if (who.on_login) who.on_login();
}

// One that may have ended is not used any more: it could end before a grant under it is answered.
task<lock_session::held_lease> lock_session::lease_of(std::uint32_t client, call_limits until) {
  const auto known = lease_of_.find(client);
  if (known != lease_of_.end() && known->second) {
    const held_lease mine = known->second;
    if (!mine->over && loop_.now() < mine->valid_until) co_return mine;
    abandon(client, mine);
  }
  const held_lease made = co_await leases_.grant(setup_.ttl, until);
  if (made) lease_of_.insert_or_assign(client, made);
  co_return made;
}

bool lock_session::is_used(const held_lease& under) const {
  return std::ranges::any_of(holds_, [&](const auto& h) { return h.second.under == under; });
}

void lock_session::abandon(std::uint32_t client, const held_lease& under) {
  const auto known = lease_of_.find(client);
  if (known != lease_of_.end() && known->second == under) known->second = nullptr;
  if (!under->over && !is_used(under)) leases_.abandon(under);
}

// Drops the hold if it ended with its lease.
lock_session::hold* lock_session::find_hold(const request& r) {
  const auto held = holds_.find({r.key, r.client});
  if (held == holds_.end()) return nullptr;
  if (!held->second.under->over) return &held->second;
  holds_.erase(held);
  return nullptr;
}

// A client that holds the key already would be granted it again, and its first release would end
// both. A mutex is not taken twice.
task<outcome<grant>> lock_session::acquire(request r) {
  const limits until(r);
  if (find_hold(r) != nullptr) {
    co_await loop_.sleep_until(r.deadline);
    co_return refusal::deadline;
  }
  outcome<grant> got = co_await try_once(r, until);
  if (got.refused(refusal::not_owner)) got = co_await try_once(r, until);
  if (got.refused(refusal::not_owner)) co_return refusal::unavailable;
  co_return got;
}

task<outcome<grant>> lock_session::try_once(request r, limits until) {
  hold mine;
  mine.under = co_await lease_of(r.client, until.calls());
  if (!mine.under) co_return refusal::unavailable;
  outcome<grant> got = co_await take(r, until, mine);
  // Under a lease that may have ended meanwhile, as while this process was stopped, nothing is
  // held; the Go client has Session.Done for that.
  if (got.done() && loop_.now() >= mine.under->valid_until) {
    got = co_await give_up(mine, refusal::unavailable, until);
  }
  if (got.refused(refusal::not_owner)) mine.under->over = true;
  if (got.in_doubt()) abandon(r.client, mine.under);
  if (got.done()) {
    mine.granted = got.value();
    holds_.insert_or_assign(owner_of_key{r.key, r.client}, mine);
  }
  co_return got;
}

// A lease is kept alive by itself.
task<outcome<grant>> lock_session::renew(request r) {
  const hold* const held = find_hold(r);
  if (held == nullptr) co_return refusal::not_owner;
  co_return held->granted;
}

task<outcome<nothing>> lock_session::release(request r) {
  const hold* const held = find_hold(r);
  if (held == nullptr) co_return refusal::not_owner;
  const hold mine = *held;
  holds_.erase(owner_of_key{r.key, r.client});
  const auto gone = co_await give_back(mine, limits(r));
  const auto current = lease_of_.find(r.client);
  const bool is_old = current == lease_of_.end() || current->second != mine.under;
  if (gone.in_doubt() || is_old) abandon(r.client, mine.under);
  co_return gone;
}

// Where nothing could be sent, the key is still there, and nobody will come back for it: a doubt,
// too.
task<outcome<nothing>> lock_session::give_back(hold mine, limits until) {
  const answer said = co_await channel_->call(delete_path, delete_request(mine.key), until.calls());
  if (said.refused()) co_return doubt::connection_lost;
  if (!said.ok()) co_return doubt_of(said);
  const std::int64_t deleted = channel_->believed(read_deleted(said.body), delete_path);
  if (deleted == 0) co_return refusal::not_owner;
  co_return nothing{};
}

task<outcome<grant>> lock_session::give_up(hold mine, refusal why, limits until) {
  const answer said =
      co_await channel_->call(delete_path, delete_request(mine.key), until.undoing());
  if (said.ok()) {
    channel_->believed(read_deleted(said.body), delete_path);
    co_return why;
  }
  if (mine.under->over) co_return why;
  if (said.refused()) co_return doubt::connection_lost;
  co_return doubt_of(said);
}

task<outcome<grant>> lock_session::give_up_lease(request r, hold mine, refusal why, limits until) {
  if (is_used(mine.under)) co_return doubt::deadline;
  const auto current = lease_of_.find(r.client);
  if (current != lease_of_.end() && current->second == mine.under) lease_of_.erase(current);
  const bool gone = co_await leases_.end(mine.under, until.answer_by);
  if (gone) co_return why;
  co_return channel_->connected() ? doubt::deadline : doubt::connection_lost;
}

outcome<grant> lock_session::ending_of(const answer& said) {
  if (said.what == trouble::lease_gone) return refusal::not_owner;
  if (said.refused()) return refusal::unavailable;
  return doubt_of(said);
}

// Source: waitDeletes of the Go client's concurrency/key.go.
task<outcome<nothing>> lock_session::wait_for_older(older_than request_for, std::string prefix,
                                                    revision own, limits until) {
  while (true) {
    const answer said =
        co_await channel_->call(range_path, request_for(prefix, own - 1), until.calls());
    auto ended = watch_board::ending::lost;
    if (said.ok()) {
      const found older = channel_->believed(read_found(said.body), range_path);
      if (older.key.empty()) co_return nothing{};
      const revision from = older.at + (setup_.watches_ahead ? 1 : 0);
      ended = co_await watches_.deletion_of(older.key, from, until.wait_until);
    }
    if (ended == watch_board::ending::refused) co_return refusal::unavailable;
    if (loop_.now() >= until.wait_until) co_return too_late();
    if (ended != watch_board::ending::lost) continue;
    const bool up = co_await channel_->connected_by(until.wait_until);
    if (!up) co_return refusal::unavailable;
    co_await loop_.sleep_until(std::min(until.wait_until, loop_.now() + look_again));
  }
}

bool lock_session::alive() const {
  const auto may_be_over = [this](const auto& held) {
    return held.second.under->over || loop_.now() >= held.second.under->valid_until;
  };
  const auto is_abandoned = [](const auto& client) { return client.second == nullptr; };
  return std::ranges::none_of(holds_, may_be_over) && std::ranges::none_of(lease_of_, is_abandoned);
}

task<void> lock_session::close() {
  co_await leases_.end_all(loop_.now() + revoking_within);
  channel_->close();
  co_await tasks_.join();
}

}  // namespace lockmark::etcd
