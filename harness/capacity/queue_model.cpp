#include "harness/capacity/queue_model.hpp"

#include <algorithm>
#include <cmath>

namespace lockmark::capacity {

double most_grants_per_s(const service_time& s) {
  return 1 / s.mean_s;
}

double most_grants_per_s(const service_time& s, double clients, double think_s, double acquire_s) {
  return std::min(clients / (think_s + s.mean_s + acquire_s), most_grants_per_s(s));
}

double knee_clients(const service_time& s, double think_s, double acquire_s) {
  return (think_s + s.mean_s + acquire_s) / s.mean_s;
}

double waiting::quantile_s(double q) const {
  // A share of 1 - utilisation does not wait at all.
  if (q <= 1 - utilisation || utilisation <= 0) return 0;
  return mean_s / utilisation * std::log(utilisation / (1 - q));
}

std::optional<waiting> predict(const service_time& s, double rate_per_s) {
  const double utilisation = rate_per_s * s.mean_s;
  if (utilisation >= 1) return std::nullopt;
  return waiting{utilisation, rate_per_s * s.second_moment_s2 / (2 * (1 - utilisation))};
}

std::uint64_t shards_for(const service_time& s, double rate_per_s, double share) {
  return static_cast<std::uint64_t>(std::max(1.0, std::ceil(rate_per_s * s.mean_s / share)));
}

}  // namespace lockmark::capacity
