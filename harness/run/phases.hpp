// State shared by the run controller and its workers during the load.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

namespace lockmark::run {

// The measured window, set by the run controller. An attempt counts when its intended start lies in
// the window; it is then followed to its end, even beyond it.
struct window {
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
  std::atomic<std::int64_t> start_ns{never};
  std::atomic<std::int64_t> end_ns{never};

  bool contains(std::int64_t at_ns) const {
    return at_ns >= start_ns.load(std::memory_order_relaxed) &&
           at_ns < end_ns.load(std::memory_order_relaxed);
  }
};

// Gauges that the run controller may read while a worker works. Written by the worker only, so an
// increment is a plain load and store; on a cache line of its own.
struct alignas(64) gauges {
  std::atomic<std::int64_t> in_flight{0};   // attempts between first try and end or release
  std::atomic<std::int64_t> holding{0};     // of these, those that hold their key
  std::atomic<std::int64_t> finished{0};    // attempts that ended, counted or not
  std::atomic<std::int64_t> counted{0};     // of these, those that count
  std::atomic<std::int64_t> granted{0};     // grants, counted or not
  std::atomic<std::int64_t> reached_ns{0};  // when a server last answered anything
  std::atomic<std::int64_t> failed_ns{0};   // when an attempt last ended unanswered
  std::atomic<std::int64_t> busy_ns{0};     // CPU time of the worker's thread
  std::atomic<std::int64_t> connected{0};   // clients whose sessions are open

  static void add(std::atomic<std::int64_t>& gauge, std::int64_t by) {
    gauge.store(gauge.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }
};

}  // namespace lockmark::run
