// What a run says of participants that died before they were told to end.
#pragma once

#include <cstdint>
#include <span>

namespace lockmark::run {

struct result;

struct death {
  std::uint32_t participant = 0;
  int wait_status = 0;
  std::int64_t at_ns = 0;
  std::int64_t measured_until_ns = 0;  // later actions are in none of its intervals
};

// Adds the load that is missing because of them, of `participants` in all. REQUIRES: the window.
void count_absent(result& r, std::span<const death> deaths, std::size_t participants);

// Adds a mark for each of these, which nobody had asked for.
void mark_deaths(result& r, std::span<const death> deaths, std::size_t participants);

}  // namespace lockmark::run
