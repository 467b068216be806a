// The memory shared by lockmark and its participants: one block for all, and one for each
// participant. Plain data and atomics; how it is used is not known here.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <span>

#include "harness/check/event_ring.hpp"
#include "harness/check/guard.hpp"
#include "harness/run/participants/record_channel.hpp"
#include "harness/run/phases.hpp"

namespace lockmark::run {

// Written by the run controller, read by all; followed by the guarded registers.
struct alignas(64) common_block {
  run::window window;
  std::atomic<std::int64_t> go_ns{0};  // when the load begins; valid after order::go
};

enum class standing : std::uint8_t { starting, ready, quiet, ended, failed };
enum class failure_kind : std::uint8_t { usage, no_server, other };

// Written by its participant, except for the reader's positions; followed by the room for events
// and for records.
struct alignas(64) participant_block {
  std::atomic<standing> state{standing::starting};
  std::atomic<std::int64_t> cpu_ns{0};  // of the whole process
  std::atomic<bool> has_failed{false};  // its load is ending or over, for this reason:
  failure_kind failure{};
  std::array<char, 1024> sentence{};
  run::gauges gauges;
  check::ring_state events;
  channel_state intervals;
};
static_assert(std::atomic<standing>::is_always_lock_free);

// The layout of a memory block and its size. Both sides compute it from the same numbers.
struct common_layout {
  std::size_t registers = 0;

  std::size_t bytes() const {
    return sizeof(common_block) + registers * sizeof(check::guarded_register);
  }
  common_block& block(std::byte* at) const { return *reinterpret_cast<common_block*>(at); }
  std::span<check::guarded_register> guarded(std::byte* at) const {
    return {reinterpret_cast<check::guarded_register*>(at + sizeof(common_block)), registers};
  }
};

struct participant_layout {
  std::size_t events = 0;          // a power of two
  std::size_t interval_bytes = 0;  // room for unread intervals

  // For one of `participants`, which share a fixed total of memory: events for a second or more of
  // the fastest lock, intervals for ten seconds.
  static participant_layout for_one_of(std::size_t participants) {
    // 128 MB of events and 32 MB of intervals; only pages that are written take memory.
    constexpr std::size_t events_of_all = std::size_t{1} << 22;
    constexpr std::size_t interval_bytes_of_all = std::size_t{1} << 25;
    const std::size_t share = std::bit_ceil(participants);
    return {std::clamp<std::size_t>(events_of_all / share, 1 << 14, 1 << 18),
            std::clamp<std::size_t>(interval_bytes_of_all / share, 1 << 18, 1 << 20)};
  }

  std::size_t bytes() const {
    return sizeof(participant_block) + events * sizeof(check::event) + interval_bytes;
  }
  participant_block& block(std::byte* at) const {
    return *reinterpret_cast<participant_block*>(at);
  }
  std::span<check::event> event_room(std::byte* at) const {
    return {reinterpret_cast<check::event*>(at + sizeof(participant_block)), events};
  }
  std::span<char> interval_room(std::byte* at) const {
    return {reinterpret_cast<char*>(at + sizeof(participant_block) + events * sizeof(check::event)),
            interval_bytes};
  }
};

}  // namespace lockmark::run
