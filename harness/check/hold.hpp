// A client's hold of a key, and two holds that overlap; see exclusion.hpp.
#pragma once

#include <cstdint>
#include <limits>

namespace lockmark::check {

struct hold {
  std::uint32_t client = 0;
  std::uint64_t token = 0;
  std::int64_t granted_ns = 0;
  std::int64_t release_sent_ns = 0;  // or the end of the run, or what was promised
  bool open_at_end = false;          // never released
  bool shared = false;               // by a reader
  std::int64_t promised_ns = std::numeric_limits<std::int64_t>::max();
};

struct violation {
  std::uint32_t key = 0;
  hold first;   // granted earlier
  hold second;  // granted while `first` was held
  std::int64_t overlap_ns = 0;
  std::int64_t clock_error_ns = 0;  // between the two holders
  bool certain = false;             // longer than that
};

}  // namespace lockmark::check
