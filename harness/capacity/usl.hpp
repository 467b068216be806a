// The universal scalability law (Gunther): X(N) = g N / (1 + a (N - 1) + b N (N - 1)), of many
// locks on one server, fitted to throughputs of N clients.
//
// For one lock that all clients want, use the bound of queue_model.hpp; this law has no meaning
// there. A peak is reported only if the data support it: within 1.25 times the measured range, and
// known to a factor of 2. Fits that only look good outside their data ruin capacity plans.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lockmark::capacity {

struct throughput {
  double clients = 1;
  double per_s = 0;
};

struct usl {
  double contention = 0;  // a, 0 to 1
  double coherence = 0;   // b, at least 0
  double each_per_s = 0;  // g: the throughput of one client alone
  double at(double clients) const;
  // The number of clients with the highest throughput; nothing if it grows without limit.
  std::optional<double> peak_clients() const;
};

// N / X is linear in 1/g, a/g, b/g; relative errors have equal weight. Nothing from fewer than
// three different N.
std::optional<usl> fit_usl(std::span<const throughput> points);

struct usl_finding {
  static constexpr std::size_t least_counts = 8;   // different N
  static constexpr std::size_t least_repeats = 3;  // of each

  std::optional<usl> fit;  // only from enough data
  // 95 %, by resampling the repeats of each N.
  double contention_low = 0, contention_high = 0;
  double coherence_low = 0, coherence_high = 0;
  double worst_residual = 0;  // largest |measured / fitted - 1| of an N's mean
  struct peak {
    double clients = 0, low = 0, high = 0;
  };
  std::optional<peak> found;
  // "peak at 70 clients (62 to 81)", "no peak observed up to 64 clients", and the reason.
  std::string says;
};

usl_finding find_usl(std::span<const throughput> points, std::uint64_t seed);

}  // namespace lockmark::capacity
