// One instance's session: its connection, a lease for each of its clients, and what they hold. The
// base of every lock's session.
//
// A lease for each client, and not one for the instance: a key's name ends in its lease, so that
// the second client of one lease would find "its own" key, and be granted what the first one holds.
//
// What is left in doubt is taken back with its lease: the client gets another one, and the old one
// is revoked as soon as nothing else is held under it. Guarantee: never two holders, as long as no
// holder outlives its lease. alive() tells a holder that it may have; the token tells everybody
// else.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "drivers/etcd/channel.hpp"
#include "drivers/etcd/leases.hpp"
#include "drivers/etcd/watches.hpp"

namespace lockmark::etcd {

// What a driver hands to each session that it opens.
struct session_setup {
  std::shared_ptr<const servers> where;
  std::shared_ptr<const std::vector<std::string>> keys;  // by request::key: what the lock is called
  duration ttl{};                                        // of the clients' leases
  // A key is watched from the revision after the one at which it was seen.
  bool watches_ahead = false;
};

// When the steps of an attempt end. Waiting for a turn ends at the deadline; an answer still due
// then gets somewhat longer, the "one round trip" of the contract, because without it the attempt
// would end in doubt.
struct limits {
  explicit limits(const request& r);
  call_limits calls() const { return {wait_until, answer_by}; }
  // For taking back what was taken.
  call_limits undoing() const { return {answer_by, answer_by}; }
  time_point wait_until;
  time_point answer_by;
};

class lock_session : public session {
 public:
  lock_session(loop& l, const instance& who, const session_setup& setup);

  // Connects, and has a lease for each client. Throws no_server. REQUIRES: called once, before
  // anything else.
  task<void> connect(instance who, time_point deadline);

  task<outcome<grant>> acquire(request r) final;
  task<outcome<grant>> renew(request r) final;
  task<outcome<nothing>> release(request r) final;
  bool alive() const final;
  task<void> close() final;
  traffic sent() const final { return count_; }

 protected:
  using held_lease = std::shared_ptr<lease>;

  // What a client holds, or is about to: under this key, for as long as the lease.
  struct hold {
    held_lease under;
    std::string key{};
    grant granted{};
  };

  // The lock itself: fills in what it takes. Unless done, nothing is held, or it ends with the
  // lease, which the caller gives up for any doubt. Awaited at once by the owner of `mine`.
  // refusal::not_owner: the lease has ended, and nothing was taken; there will be another attempt.
  virtual task<outcome<grant>> take(request r, limits until, hold& mine) = 0;
  // Done: the key was there, and no longer is. In doubt: it ends with the lease, as above.
  virtual task<outcome<nothing>> give_back(hold mine, limits until);

  // Waits until no key below `prefix` is older than a client's own, watching the youngest of those.
  // Done: its turn has come. A refusal: its turn has not come, and its own key is still to be
  // deleted. `request_for`: of messages.hpp.
  using older_than = std::string (*)(std::string_view prefix, revision latest);
  task<outcome<nothing>> wait_for_older(older_than request_for, std::string prefix, revision own,
                                        limits until);

  // Deletes the key of an attempt that ends with `why`; in doubt if that cannot be known.
  task<outcome<grant>> give_up(hold mine, refusal why, limits until);

  // The same, by revoking the lease. In doubt if the client holds something else under it.
  task<outcome<grant>> give_up_lease(request r, hold mine, refusal why, limits until);

  // How an attempt ends whose first change was answered so. REQUIRES: not ok.
  static outcome<grant> ending_of(const answer& said);
  // Of what could not be done by the deadline.
  refusal too_late() const {
    return channel_->connected() ? refusal::deadline : refusal::unavailable;
  }

  const std::string& key_of(const request& r) const { return setup_.keys->at(r.key); }

  channel& etcd() const { return *channel_; }

  loop& loop_;

 private:
  using owner_of_key = std::pair<std::uint32_t, std::uint32_t>;  // request::key, request::client

  hold* find_hold(const request& r);
  task<held_lease> lease_of(std::uint32_t client, call_limits until);
  task<outcome<grant>> try_once(request r, limits until);
  bool is_used(const held_lease& under) const;
  void abandon(std::uint32_t client, const held_lease& under);
  task<void> prepare_client(std::uint32_t client, instance who, time_point deadline);

  const session_setup setup_;
  traffic count_;
  scope tasks_;
  const std::shared_ptr<channel> channel_;
  lease_keeper leases_;
  watch_board watches_;
  // By request::client. Null: abandoned, with what may have been held; there is no other one yet.
  std::map<std::uint32_t, held_lease> lease_of_;
  std::map<owner_of_key, hold> holds_;
};

}  // namespace lockmark::etcd
