// The state of one key, shared by all threads: its holders, the end of each hold, and the waiters
// in line.
//
// This is memory's "server". Each call takes the key's own mutex for some nanoseconds and never
// suspends. Waking a waiter costs more and is left to the caller, outside the mutex.
//
// A key has places, and each hold takes some: a semaphore's owner takes one of a few, a reader one
// of very many, a writer all of them, and an exclusive lock has one. So one queue serves them all,
// first come first served, and no waiter starves.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "harness/async/signal.hpp"
#include "harness/driver.hpp"

namespace lockmark::memory {

struct owner {
  const void* session = nullptr;
  std::uint32_t client = 0;
  friend bool operator==(const owner&, const owner&) = default;
};

// One client in line. Lives in its acquire(), which stays until a ring under way has arrived.
struct waiter {
  waiter(loop& l, owner o, const request& r, std::uint32_t wanted)
      : who(o), lease(r.lease), deadline(r.deadline), places(wanted), home(l), bell(l) {}

  // Wakes the waiter, from the thread of `from`. REQUIRES: `ringing`.
  void ring(loop& from);

  const owner who;
  const duration lease;
  const time_point deadline;
  const std::uint32_t places;
  loop& home;
  signal bell;

  // Guarded by the key's mutex.
  time_point looks_again{};      // its deadline, or the end of the next hold to run out
  std::optional<grant> granted;  // and then no longer in line
  bool ringing = false;          // a ring is under way
  waiter* rung_next = nullptr;   // in the same `rings`
  std::list<waiter*>::iterator in_line;
};

// The waiters that the caller of a key_lock must ring once the key's mutex is free, in order. A
// chain through the waiters themselves: where nobody waits, which is the path that is measured
// against the harness's floor, it costs nothing.
class rings {
 public:
  // REQUIRES: `w` has just become `ringing`, and so stays until it was rung.
  void add(waiter& w);
  void ring_all(loop& from) const {
    // A waiter that was rung may be gone at once, and its link with it.
    for (waiter* w = first_; w != nullptr;) std::exchange(w, w->rung_next)->ring(from);
  }
  const waiter* first() const { return first_; }

 private:
  waiter* first_ = nullptr;
  waiter* last_ = nullptr;
};

class alignas(64) key_lock {
 public:
  void set_places(std::uint32_t n) { places_ = n; }

  // Takes places if they are free and nobody waits. An owner that is inside already gets another
  // hold, or, if `reentrant`, another level of the one it has.
  std::optional<grant> try_take(owner who, std::uint32_t places, duration lease, time_point now,
                                bool reentrant);

  // Joins the line, or finds the places free after all: then granted.
  void join(waiter& w, time_point now, rings& to_ring);

  // For a waiter that woke up: true once the wait is over, because it is granted, or past its
  // deadline and out of the line.
  bool look_again(waiter& w, bool was_rung, time_point now, rings& to_ring);

  // The owner's latest hold, or one level of it; none, or false: it has none.
  std::optional<grant> extend(owner who, duration lease, time_point now, rings& to_ring);
  bool give_back(owner who, time_point now, rings& to_ring);

  // Every hold of a session.
  void give_back_for(const void* session, time_point now, rings& to_ring);

  void reset();
  std::uint64_t calls();

 private:
  struct hold {
    owner who;
    std::uint32_t places;
    std::uint64_t token;
    time_point runs_out;
    std::uint32_t depth = 1;
  };

  std::uint32_t free_places() const;
  time_point next_to_run_out() const;
  grant let_in(owner who, std::uint32_t places, duration lease, time_point now);
  void settle(time_point now, rings& to_ring) {
    if (!line_.empty()) serve_line(now, to_ring);
  }
  void serve_line(time_point now, rings& to_ring);
  hold* latest_of(owner who, time_point now);

  std::mutex mutex_;
  std::uint32_t places_ = 1;
  std::vector<hold> inside_;
  std::uint64_t token_ = 0;
  std::uint64_t calls_ = 0;
  std::list<waiter*> line_;
};

using key_locks = std::shared_ptr<std::vector<key_lock>>;

key_locks new_keys(std::size_t count, std::uint32_t places);

// The keys of a run, for drivers that share them, as readers and writers must; they last as long as
// one of the drivers.
key_locks keys_of(const names& run, std::uint32_t places);

}  // namespace lockmark::memory
