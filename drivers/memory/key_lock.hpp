// The state of one lock, shared by all threads: who holds it, until when, and who waits in line.
//
// This is memory's "server". Each call takes the key's own mutex for some nanoseconds and never
// suspends; waking a waiter, which is dearer, is left to the caller once the mutex is free.
#pragma once

#include <cstdint>
#include <list>
#include <mutex>
#include <optional>

#include "harness/async/signal.hpp"
#include "harness/driver.hpp"

namespace lockmark::memory {

struct owner {
  const void* session = nullptr;  // null: nobody
  std::uint32_t client = 0;
  friend bool operator==(const owner&, const owner&) = default;
};

// One client in line. Lives in its acquire(), which stays until a ring under way has arrived.
struct waiter {
  waiter(loop& l, owner o, const request& r)
      : who(o), lease(r.lease), deadline(r.deadline), home(l), bell(l) {}

  // Wakes the waiter, from the thread of `from`. REQUIRES: `ringing`.
  void ring(loop& from);

  const owner who;
  const duration lease;
  const time_point deadline;
  loop& home;
  signal bell;

  // Guarded by the key's mutex.
  time_point looks_again{};      // its deadline, or when the hold it waits for runs out
  std::optional<grant> granted;  // and then no longer in line
  bool ringing = false;          // somebody is about to ring
  std::list<waiter*>::iterator place;
};

class alignas(64) key_lock {
 public:
  // Takes a free key, or one whose lease has run out, or, if `reentrant`, the owner's own.
  std::optional<grant> try_take(owner who, duration lease, time_point now, bool reentrant);

  // Calls that return a waiter ask for it to be rung; null: nobody.

  // Joins the line, or finds the key free after all: then granted.
  waiter* join(waiter& w, time_point now);

  // For a waiter that woke up. Passes on a hold that has run out, and says whether the wait is
  // over: granted, or past the deadline and out of the line.
  struct look {
    bool over = false;
    waiter* to_ring = nullptr;
  };
  look look_again(waiter& w, bool was_rung, time_point now);

  struct change {
    std::optional<grant> held;  // none: not the owner's
    waiter* to_ring = nullptr;
  };
  change extend(owner who, duration lease, time_point now);
  change give_back(owner who, time_point now);  // one level

  // All levels of whichever client of a session holds it.
  waiter* give_back_for(const void* session, time_point now);

  void reset();
  std::uint64_t calls();

 private:
  bool held(time_point now) const { return holder_.session != nullptr && now < runs_out_; }
  grant hold(owner who, duration lease, time_point now);
  waiter* pass_on(time_point now);
  waiter* oversleeper();

  std::mutex mutex_;
  owner holder_;
  std::uint32_t depth_ = 0;
  std::uint64_t token_ = 0;
  time_point runs_out_{};
  std::uint64_t calls_ = 0;
  std::list<waiter*> line_;
};

}  // namespace lockmark::memory
