// What a link does with the bytes between a client and a server, or between two servers.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "harness/time/clock.hpp"

namespace lockmark::faults {

enum class link_mode : std::uint8_t {
  pass,        // transparent
  cut,         // connections break, and new ones are refused
  stall,       // no traffic and no errors; bytes that come meanwhile are delivered later
  delay,       // every byte arrives later, in order
  silent,      // bytes of either side are lost; what lost some breaks when this ends
  hold_reply,  // requests pass; a connection is held at its next reply
};

// As in commands to the proxies.
inline constexpr std::array<std::string_view, 6> link_mode_names{"pass",  "cut",    "stall",
                                                                 "delay", "silent", "hold_reply"};

// How much longer bytes take in either direction of a link, whatever its mode: `least`, and up to
// `jitter` more, drawn anew for what arrives together. Nothing overtakes what was sent before.
struct link_latency {
  duration least{};
  duration jitter{};
};

}  // namespace lockmark::faults
