// A fault's view of the run's participants: processes that can be killed and stopped.
//
// All calls come from the run controller's thread.
#pragma once

#include <cstdint>

#include "harness/time/clock.hpp"

namespace lockmark::faults {

class participant_control {
 public:
  virtual ~participant_control() = default;

  virtual std::uint32_t count() const = 0;  // they are numbered from 0
  virtual bool lives(std::uint32_t which) const = 0;
  // The number of keys it holds now.
  virtual std::int64_t holding(std::uint32_t which) const = 0;

  // In force on return. Both return a time just before the signal.
  virtual time_point kill(std::uint32_t which) = 0;
  virtual time_point pause(std::uint32_t which) = 0;
  virtual void resume(std::uint32_t which) = 0;
};

}  // namespace lockmark::faults
