// The deadlines of one loop, ordered: a binary heap of intrusive nodes.
//
// Asio's own timers cannot run under a simulated clock and arm the kernel for each deadline; a
// lock's deadline is nearly always cancelled, so adding and removing here touch memory only.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "harness/time/clock.hpp"

namespace lockmark {

// A deadline that calls `fire` once. Must be removed from its queue before destruction.
class timer {
 public:
  timer() = default;
  timer(const timer&) = delete;
  timer& operator=(const timer&) = delete;

  bool armed() const { return place_ != idle; }

 protected:
  ~timer() = default;
  virtual void fire() = 0;

 private:
  friend class timer_queue;
  static constexpr std::size_t idle = static_cast<std::size_t>(-1);
  time_point when_{};
  std::size_t place_ = idle;
};

class timer_queue {
 public:
  // REQUIRES: `t` is not armed. O(log n).
  void add(timer& t, time_point when);
  // Does nothing if `t` is not armed. O(log n).
  void remove(timer& t);
  std::optional<time_point> earliest() const;
  // Fires, in order, every timer due at `now`.
  void fire_due(time_point now);

 private:
  void put(std::size_t place, timer* t);
  void sift_up(std::size_t place);
  void sift_down(std::size_t place);

  std::vector<timer*> heap_;
};

}  // namespace lockmark
