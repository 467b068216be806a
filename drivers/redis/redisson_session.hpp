// The common base of Redisson's locks. An attempt asks; if the lock is held, it subscribes, asks
// again, and from then on asks after each announcement of a release or the end of the holder's
// lease.
//
// A release leaves its answer for a while under a name of its own (the latch), and deletes it by a
// second command. A lock with scripts of its own overrides ask() and tell().
//
// Source: RedissonLock, RedissonBaseLock and LockPubSub of Redisson 3.52 (unchanged in 4.7).
#pragma once

#include <array>
#include <optional>
#include <random>
#include <set>

#include "drivers/redis/lock_driver.hpp"
#include "drivers/redis/redisson_protocol.hpp"
#include "drivers/redis/subscription.hpp"
#include "drivers/redis/watchdog.hpp"

namespace lockmark::redis {

// The messages of Redisson's channels.
inline constexpr int unlock_message = 0;       // wakes one waiter of each instance
inline constexpr int read_unlock_message = 1;  // wakes all of them
// Redisson: (timeout 3 s + delay between retries, 1 to 2 s) * 4 retries.
inline constexpr int latch_ms = 18'000;

// The options of all these locks: `watchdog`, `wait`, `wait_aof`.
std::vector<lock_option> redisson_options();

// Under Sentinel and in a Cluster, Redisson sends WAIT behind each of its scripts.
enum class sync_replicas : std::uint8_t {
  check,   // a lock that no replica has confirmed is given up again
  ignore,  // WAIT is sent, and what it says is ignored: checkLockSyncedSlaves=false
  none,    // no WAIT: as with a single server
};

constexpr std::size_t redisson_batch = 100;  // lockWatchdogBatchSize

class redisson_session : public lock_session {
 public:
  redisson_session(loop& l, run_data& run, const instance& who);
  ~redisson_session() override;

  task<outcome<grant>> acquire(request r) override { return take(the_lock(r), r); }
  task<outcome<grant>> renew(request r) override { return extend(the_lock(r), r); }
  task<outcome<nothing>> release(request r) override { return give_up(the_lock(r), r); }

  // Deletes latches whose answers were lost; the driver's wipe deletes the rest.
  task<void> close() override;

 protected:
  // run_data::scripts begins with these; extend may be another script of the same kind.
  enum scripts : std::size_t { take_script, give_up_script, extend_script, first_own_script };

  // One lock on one server. The names belong to the session.
  struct rlock {
    std::size_t place;
    std::string_view name;
    std::string_view holder;
    std::uint32_t number;  // among all that a client of the session may hold, from 0
  };

  // The meaning of the taking script's answer.
  struct answer {
    bool taken;
    std::int64_t pttl_ms;  // of the holder; negative: never expires
    std::uint64_t token = 0;
  };

  // False: an attempt asks once.
  virtual bool waits() const { return true; }
  virtual rlock the_lock(const request& r) const { return {0, key(r), owner(r), r.key}; }
  // The lock of this number.
  virtual rlock numbered(std::uint32_t number, std::uint32_t client) const {
    return the_lock({.key = number, .client = client});
  }

  // Runs the script that takes; `wait` is the length of the whole attempt.
  virtual task<outcome<reply>> ask(const rlock& what, const request& r, duration wait);
  // Nothing for an answer that its script never gives.
  virtual std::optional<answer> read(const reply& r) const;
  // The keys and arguments of the script that extends one lock, which answers {1} if it did, or
  // several of them, one after the other. The first argument of all is the lease.
  virtual void append_extended(const rlock& what, std::vector<argument>& keys,
                               std::vector<argument>& arguments) const;
  // Runs the script that gives up.
  virtual task<outcome<reply>> tell(const rlock& what, const request& r, std::string_view channel,
                                    std::string_view latch);
  // Whether its answer says that the holder had the lock.
  virtual bool was_held(const reply& r) const { return !r.is(reply::kind::nil); }
  virtual void append_channel_of(std::string& out, const rlock& what) const;
  // For locks that count their holds: before each request, after one that certainly took nothing,
  // and after a release that was answered.
  virtual void will_ask(const request&) {}
  virtual void was_refused(const request&) {}
  virtual void was_given_up(const request&, bool /*was_held*/) {}
  // After an attempt that did not take the lock.
  virtual void gave_up_waiting(const rlock&, const request&, duration /*wait*/) {}

  // acquire, renew and release of one lock of several.
  task<outcome<grant>> take(rlock what, request r);
  task<outcome<grant>> extend(rlock what, request r);
  task<outcome<nothing>> give_up(rlock what, request r);
  // The last without waiting for the answer, when there is no time left.
  void abandon(const rlock& what, const request& r);

  // Runs every script that takes a lock or gives it up. Unless the server is single, Redisson then
  // waits for the replicas, and is content with one of them.
  template <class... Arguments>
  task<outcome<reply>> run_script(std::size_t which, const rlock& what, const request& r,
                                  int key_count, const Arguments&... arguments) {
    connection& c = client(r, what.place);
    const script& text = run_.scripts[which];
    if (sync_ == sync_replicas::none) {
      return c.evaluate(r, text, key_count, arguments...);
    }
    unconfirmed_[r.client] = false;
    return confirmed(r.client, c.evaluate_synced(r, to_disk_, text, key_count, arguments...));
  }

  // Has `wipe` remove this key too.
  void leave_behind(std::string name) { run_.left.add(std::move(name)); }

 private:
  task<outcome<reply>> extend_all(connection& c, std::vector<rlock> some, duration lease,
                                  time_limit until);
  void watch(const rlock& what, const request& r, time_point ends);
  task<outcome<reply>> confirmed(std::uint32_t client, task<outcome<replicated_reply>> asked);
  bool in_time(const request& r) const { return loop_.now() < r.deadline; }
  [[noreturn]] void throw_unexpected(const rlock& what, const reply& said) const;
  time_point until_worth_asking(std::int64_t pttl_ms, const request& r) const;
  void remember_latch(const rlock& what, const request& r);
  std::string_view new_request_id();
  void begin_giving_up(const rlock& what, std::string& latch);

  std::vector<std::unique_ptr<subscription>> messages_;  // by place
  std::vector<std::vector<std::string>> latches_;        // by place, the last of each client
  // Latches that may still exist, with their places.
  std::vector<std::pair<std::size_t, std::string>> left_;
  std::vector<bool> unconfirmed_;  // by client: no replica confirmed the last script's writes
  std::vector<std::unique_ptr<watchdog>> watchdogs_;  // by place; or none
  const sync_replicas sync_;
  const bool to_disk_;  // by WAITAOF where the server can
  std::mt19937_64 random_;
  std::array<char, 32> request_id_;
  std::string scratch_;
};

}  // namespace lockmark::redis
