#include "harness/stats/littles_law.hpp"

#include <cmath>

namespace lockmark::stats {
namespace {

constexpr std::size_t fewest_samples = 20;
constexpr std::size_t batches = 20;

double mean_of(std::span<const double> values) {
  double sum = 0;
  for (double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// Neighbouring samples see the same attempts; batch means are nearly independent.
double batch_standard_error(std::span<const double> gauge) {
  const std::size_t length = gauge.size() / batches;
  const double mean = mean_of(gauge.first(length * batches));
  double squares = 0;
  for (std::size_t b = 0; b < batches; ++b) {
    const double deviation = mean_of(gauge.subspan(b * length, length)) - mean;
    squares += deviation * deviation;
  }
  return std::sqrt(squares / (batches * (batches - 1)));
}

}  // namespace

littles_law_check check_littles_law(std::span<const double> gauge, double stamped_mean) {
  littles_law_check result;
  result.stamped_mean = stamped_mean;
  if (gauge.size() < fewest_samples) return result;
  result.checked = true;
  result.sampled_mean = mean_of(gauge);
  result.standard_error = batch_standard_error(gauge);
  const double difference = result.sampled_mean - stamped_mean;
  const double larger = std::max(std::abs(result.sampled_mean), std::abs(stamped_mean));
  if (larger > 0) result.relative_difference = std::clamp(difference / larger, -1.0, 1.0);
  result.failed = std::abs(result.relative_difference) > littles_law_tolerance &&
                  std::abs(difference) > littles_law_errors * result.standard_error;
  return result;
}

}  // namespace lockmark::stats
