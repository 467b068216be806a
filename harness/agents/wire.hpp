// What both sides of the wire agree on.
#pragma once

#include <grpc/support/log.h>
#include <grpc/support/time.h>

#include <cstdint>

#include "harness/time/clock.hpp"

namespace lockmark::agents {

inline constexpr std::uint32_t protocol = 1;
// A report of a busy agent that was silent for a while.
inline constexpr int largest_message = 64 << 20;

// gRPC prints on stderr what its calls also return.
inline void silence_grpc() {
  gpr_set_log_function([](gpr_log_func_args*) {});
}

inline gpr_timespec deadline_after(duration d) {
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_nanos(d.count(), GPR_TIMESPAN));
}

// Two quartz clocks drift apart by at most so much in ns a ms, beside what their kernels do.
inline constexpr double quartz_ppm = 100;

inline double drift_ppm(double slew_ppm, double other_slew_ppm) {
  const auto size = [](double x) { return x < 0 ? -x : x; };
  return quartz_ppm + size(slew_ppm) + size(other_slew_ppm);
}

}  // namespace lockmark::agents
