// Any driver, made worse on purpose: faults that the checkers and the harness must catch.
//
// Faults are counted, except lost replies, which are drawn from a seed: the same calls in the same
// order meet the same faults. Not a model of a real server; for one, see the proxy of
// drivers/conformance.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/driver.hpp"

namespace lockmark::faulty {

// A request that was let through although it had to be refused, or to wait: a fault of
// `two_holders` or `lost_updates`.
struct wrong_grant {
  std::uint32_t instance = 0;
  std::uint32_t client = 0;  // of the instance
  std::uint32_t key = 0;
  time_point at{};
  // Somebody had the key, or had committed. False: it was free, but others had asked before.
  bool was_taken = true;
};

struct faults {
  duration delay{};         // before each call
  double lost_replies = 0;  // share of calls, 0..1, that go through but end in doubt
  duration stall_at{};      // since the session's opening ...
  duration stall_for{};     // ... calls wait for this long; 0: never
  std::uint64_t two_holders =
      0;  // each n-th acquire that has to wait or to fail is granted; 0: none
  std::uint64_t stale_token = 0;   // each n-th grant carries the token of the key's grant before
  std::uint64_t lost_updates = 0;  // each n-th conflict is reported as committed
  std::uint64_t seed = 1;

  // A call that breaks the contract of drivers: the n-th of its kind in a process, and all later
  // ones.
  std::string breaks_in;          // "acquire", "renew", ...; empty: none
  std::uint64_t breaks_from = 1;  // n, from 1
  bool hangs = false;             // true: it ends after two minutes; false: it throws no_server
  std::optional<std::uint64_t> breaks_instance;  // only this one's calls are counted; unset: all

  // Called for each, from any thread; may be empty.
  std::function<void(const wrong_grant&)> on_wrong_grant{};
};

// `keys`: the run's number of keys. `holders`: how many may hold one at once; 0: any number. A
// wrong grant never reaches the driver inside, nor does its release; it carries the token of the
// key's last grant. `counters` tells how many there were of either kind.
std::unique_ptr<driver> wrap(std::unique_ptr<driver> inside, std::size_t keys, const faults& f,
                             std::uint32_t holders = 1);

// "250ms", "40us", "2s", and "0". False: not a duration; `d` is then untouched.
bool read_duration(std::string_view text, duration& d);

// faulty/lock and faulty/optimistic: the memory locks, with an option for each fault.
std::vector<lock_kind> kinds();

// Any lock with these options beside its own, under this name, which must outlive the kind.
lock_kind version_of(const lock_kind& inside, std::string_view name);

}  // namespace lockmark::faulty
