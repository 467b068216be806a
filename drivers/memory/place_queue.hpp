// The state of one lock that several may hold, shared by all threads: who is inside, and who waits.
//
// Each of a semaphore's owners takes one place; a reader takes one of very many, and a writer all
// of them. So one queue serves all three, first come first served, and nobody starves.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "drivers/memory/key_lock.hpp"

namespace lockmark::memory {

// One client in line, as in key_lock.hpp.
struct place_waiter : waiter {
  place_waiter(loop& l, owner o, const request& r, std::uint32_t p) : waiter(l, o, r), places(p) {}
  const std::uint32_t places;  // that it wants
  std::list<place_waiter*>::iterator in_line;
};

class place_queue {
 public:
  void set_places(std::uint32_t n) { places_ = n; }

  // Takes places if they are free and nobody waits for some. Also for who is inside already: a
  // hold of its own.
  std::optional<grant> try_take(owner who, std::uint32_t places, duration lease, time_point now);

  // The calls below return whom the caller must ring.
  using rings = std::vector<place_waiter*>;

  // Joins the line, or finds the places free after all: then granted.
  rings join(place_waiter& v, time_point now);

  // For a waiter that woke up: whether the wait is over, granted or past the deadline.
  struct look {
    bool over = false;
    rings to_ring{};
  };
  look look_again(place_waiter& v, bool was_rung, time_point now);

  struct change {
    std::optional<grant> held{};  // none: not the owner's
    rings to_ring{};
  };
  change extend(owner who, duration lease, time_point now);  // the latest hold of the owner
  change give_back(owner who, time_point now);               // the same

  // Every hold of a session.
  rings give_back_for(const void* session, time_point now);

  void reset();
  std::uint64_t calls();

 private:
  struct hold {
    owner who;
    std::uint32_t places;
    std::uint64_t token;
    time_point runs_out;
  };

  std::uint32_t free_places() const;
  time_point next_to_run_out() const;
  grant let_in(owner who, std::uint32_t places, duration lease, time_point now);
  rings settle(time_point now);
  std::vector<hold>::iterator latest_of(owner who, time_point now);

  std::mutex mutex_;
  std::uint32_t places_ = 1;
  std::vector<hold> inside_;
  std::uint64_t token_ = 0;
  std::uint64_t calls_ = 0;
  std::list<place_waiter*> line_;
};

// The queues of a run's keys. Drivers of one run share them, as readers and writers must, for as
// long as one of them lives.
std::shared_ptr<std::vector<place_queue>> queues_of(const names& run, std::uint32_t places);

}  // namespace lockmark::memory
