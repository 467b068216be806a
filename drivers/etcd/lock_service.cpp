// etcd/lock_service: the lock that an etcd server implements itself, by its service v3lock: Lock
// waits until the client has the key, Unlock deletes it. The server does what etcd/mutex does, and
// the client keeps its lease alive.
//
// The token is the store's revision when the lock was granted, as Lock's answer has it. Between two
// grants there is the deletion of the first one's key, so it grows.
//
// A server before 3.5 also grants to a client whose lease has ended while it waited
// (github.com/etcd-io/etcd/issues/11456). lock_session refuses such a grant.
#include <fmt/format.h>

#include <algorithm>

#include "drivers/etcd/driver.hpp"
#include "drivers/etcd/etcd.hpp"
#include "drivers/etcd/paths.hpp"

namespace lockmark::etcd {
namespace {

using namespace std::chrono_literals;

constexpr duration until_it_is_there = 20ms;  // the key of a Lock that has just been sent

class service_session final : public lock_session {
 public:
  using lock_session::lock_session;

 private:
  task<outcome<grant>> take(request r, limits until, hold& mine) override {
    mine.key = fmt::format("{}/{:x}", key_of(r), mine.under->id);
    channel::exchange lock{etcd()};
    if (!etcd().connected()) co_await etcd().connected_by(until.wait_until);
    if (loop_.now() >= until.wait_until) co_return refusal::unavailable;
    if (!lock.begin(lock_path, lock_request(key_of(r), mine.under->id))) {
      co_return refusal::unavailable;
    }
    const bool in_time = co_await lock.ended_by(until.wait_until);
    if (!in_time) co_return co_await take_back(lock, mine, until);
    const answer said = lock.result();
    if (said.what == trouble::token_ended) {
      co_await etcd().log_in_again(until.wait_until);
      co_return refusal::unavailable;
    }
    if (said.what == trouble::lease_gone) co_return refusal::not_owner;
    if (said.ended == answer::ending::unsent) co_return refusal::unavailable;
    // Of other errors nobody knows whether they came before or after the key was created.
    if (!said.ok()) co_return doubt_of(said);
    const locked granted = etcd().believed(read_locked(said.body), lock_path);
    mine.key = granted.key;
    co_return grant{static_cast<std::uint64_t>(granted.at)};
  }

  // Cancelling the call would leave it to the server when to delete the key, and nobody would hear
  // of it. Lock creates the key once: if it was there to be deleted, it does not come back.
  task<outcome<grant>> take_back(channel::exchange& lock, const hold& mine, limits until) {
    while (true) {
      const answer said =
          co_await etcd().call(delete_path, delete_request(mine.key), until.undoing());
      if (!said.ok()) co_return said.refused() ? doubt::connection_lost : doubt_of(said);
      const std::int64_t deleted = etcd().believed(read_deleted(said.body), delete_path);
      if (deleted > 0) co_return too_late();
      if (loop_.now() >= until.answer_by) co_return doubt::deadline;
      co_await lock.ended_by(std::min(until.answer_by, loop_.now() + until_it_is_there));
    }
  }

  // The server does not say whether the key was there.
  task<outcome<nothing>> give_back(hold mine, limits until) override {
    const answer said = co_await etcd().call(unlock_path, unlock_request(mine.key), until.calls());
    if (said.ok()) co_return nothing{};
    if (said.refused()) co_return doubt::connection_lost;
    co_return doubt_of(said);
  }
};

}  // namespace

lock_kind lock_service() {
  return {
      .name = "etcd/lock_service",
      .summary = "the server's own lock: it keeps the queue, and answers when the turn has come",
      .has = feature::fencing_token | feature::session_bound | feature::session_timeout |
             feature::server_wait | feature::fair,
      .promises = safety::session,
      .topologies = all_topologies,
      .algorithm = "etcd's v3lock service, Lock and Unlock",
      .options = {},
      .make = make_driver_of<service_session>,
  };
}

}  // namespace lockmark::etcd
