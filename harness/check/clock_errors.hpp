// How far apart the clocks of two clients may be, for checks that rest on the order of events.
#pragma once

#include <cstdint>

namespace lockmark::check {

// Events of several hosts are brought to one time scale, each with an error. Two events further
// apart than this happened in the order of their stamps; of others, nobody can know.
class clock_errors {
 public:
  virtual ~clock_errors() = default;
  // In ns, at least 0; 0 for clients of one host. `at_ns`: about when, on the common scale.
  virtual std::int64_t between(std::uint32_t client, std::uint32_t other,
                               std::int64_t at_ns) const = 0;
};

// Of `clocks`, which may be null: all clients share one.
inline std::int64_t error_between(const clock_errors* clocks, std::uint32_t client,
                                  std::uint32_t other, std::int64_t at_ns) {
  return clocks == nullptr ? 0 : clocks->between(client, other, at_ns);
}

}  // namespace lockmark::check
