// etcd/lock_service: the lock that an etcd server implements itself, by its service v3lock: Lock
// waits until the client has the key, Unlock deletes it. The server does what etcd/mutex does, and
// the client keeps its lease alive.
//
// The token is the store's revision when the lock was granted, as Lock's answer has it. Between two
// grants there is the deletion of the first one's key, so it grows.
//
// An attempt that is given up takes its lease with it. The server would delete the key by itself
// when the call is cancelled, but some time later, and by its name: by then it could be the key of
// the client's next attempt.
//
// A server before 3.5 also grants to a client whose lease has ended while it waited
// (github.com/etcd-io/etcd/issues/11456). lock_session refuses such a grant.
#include <fmt/format.h>

#include "drivers/etcd/driver.hpp"
#include "drivers/etcd/etcd.hpp"
#include "drivers/etcd/paths.hpp"

namespace lockmark::etcd {
namespace {

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
    if (!in_time) co_return co_await give_up_lease(r, mine, too_late(), until);
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
      .cost = {2, 2},
      .options = {},
      .make = make_driver_of<service_session>,
  };
}

}  // namespace lockmark::etcd
