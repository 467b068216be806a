// One process's events in memory that another process reads, even after the first was killed.
//
// One writer, one reader, no lock. An event exists once the index behind it has moved, so a writer
// that dies at any moment leaves only whole events, and all that it had noted. A writer never
// waits: when the ring is full, that event and all later ones are lost, and both sides know it. It
// owns no memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "harness/check/history.hpp"

namespace lockmark::check {

// The state both sides share besides the events. Each side writes to its own cache line.
struct ring_state {
  alignas(64) std::atomic<std::uint64_t> written{0};
  std::atomic<std::int64_t> complete_until_ns{0};
  std::atomic<bool> overflowed{false};
  alignas(64) std::atomic<std::uint64_t> read{0};
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

class event_writer {
 public:
  // REQUIRES: the ring is new, and the size of `room` is a power of two.
  event_writer(ring_state& shared, std::span<event> room)
      : shared_(shared), room_(room), limit_(room.size()) {}

  void push(const event& e) {
    if (next_ == limit_ && !find_room()) return;
    room_[next_ & (room_.size() - 1)] = e;
    shared_.written.store(++next_, std::memory_order_release);
  }

  // No event earlier than this will follow; ignored once an event was lost.
  void promise(std::int64_t complete_until_ns) {
    if (lost_) return;
    shared_.complete_until_ns.store(complete_until_ns, std::memory_order_release);
  }

 private:
  bool find_room();

  ring_state& shared_;
  const std::span<event> room_;
  std::uint64_t next_ = 0;
  std::uint64_t limit_;  // the reader has freed the slots below it
  bool lost_ = false;
};

class event_reader {
 public:
  event_reader(ring_state& shared, std::span<const event> room) : shared_(shared), room_(room) {}

  // Appends every event since the last call to `to`; returns the promise that covers them.
  std::int64_t read(std::vector<event>& to);

  // Events are missing after those read so far.
  bool overflowed() const { return shared_.overflowed.load(std::memory_order_acquire); }

 private:
  ring_state& shared_;
  const std::span<const event> room_;
  std::uint64_t next_ = 0;
};

}  // namespace lockmark::check
