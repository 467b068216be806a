#include "harness/stats/histogram.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>

namespace lockmark::stats {
namespace {

// The smallest power of two of sub-buckets that keeps `digits` decimal digits: values up to
// 2 * 10^digits must have a counter of their own.
int sub_bucket_bits_for(int digits) {
  if (digits < 1 || digits > 4) {
    throw std::invalid_argument(
        fmt::format("a histogram keeps 1 to 4 significant digits, not {}", digits));
  }
  std::uint64_t single_unit_limit = 2;
  for (int i = 0; i < digits; ++i) single_unit_limit *= 10;
  return static_cast<int>(std::bit_width(single_unit_limit - 1));
}

}  // namespace

histogram::histogram(int significant_digits)
    : significant_digits_(significant_digits),
      sub_bucket_bits_(sub_bucket_bits_for(significant_digits)),
      sub_bucket_mask_((std::uint64_t{1} << sub_bucket_bits_) - 1) {
  const auto half = std::size_t{1} << (sub_bucket_bits_ - 1);
  // Whole buckets, as HdrHistogram allocates them.
  counts_.resize((index_of(highest_ns) / half + 1) * half);
}

std::int64_t histogram::clamp_and_count(std::int64_t value_ns, std::int64_t count) {
  if (value_ns < 0) {
    clamped_low_ += count;
    return 0;
  }
  clamped_high_ += count;
  return highest_ns;
}

void histogram::merge(const histogram& other) {
  if (other.significant_digits_ != significant_digits_) {
    throw std::invalid_argument(
        fmt::format("histograms of {} and {} significant digits cannot be merged",
                    significant_digits_, other.significant_digits_));
  }
  if (!other.empty()) {
    const std::size_t first = index_of(other.min_ns_);
    const std::int64_t* const from = other.counts_.data();
    std::int64_t* const to = counts_.data() + first;
    std::transform(from + first, from + other.used_counts(), to, to, std::plus{});
  }
  count_ += other.count_;
  sum_ns_ += other.sum_ns_;
  min_ns_ = std::min(min_ns_, other.min_ns_);
  max_ns_ = std::max(max_ns_, other.max_ns_);
  clamped_low_ += other.clamped_low_;
  clamped_high_ += other.clamped_high_;
}

void histogram::reset() {
  if (!empty()) {
    const auto first = counts_.begin();
    std::fill(first + static_cast<std::ptrdiff_t>(index_of(min_ns_)),
              first + static_cast<std::ptrdiff_t>(used_counts()), 0);
  }
  count_ = 0;
  sum_ns_ = 0;
  min_ns_ = highest_ns;
  max_ns_ = 0;
  clamped_low_ = 0;
  clamped_high_ = 0;
}

double histogram::mean_ns() const {
  return empty() ? 0.0 : static_cast<double>(sum_ns_) / static_cast<double>(count_);
}

std::int64_t histogram::rank_of_quantile(double q, std::int64_t n) {
  // One ulp less, so that rounding in q * n cannot reach into the next rank (0.07 * 100 > 7).
  const double below = std::nextafter(std::clamp(q, 0.0, 1.0), -1.0);
  const auto rank = static_cast<std::int64_t>(std::ceil(below * static_cast<double>(n)));
  return std::max<std::int64_t>(rank, 1);
}

std::int64_t histogram::value_at_quantile(double q) const {
  if (empty()) return 0;
  if (q <= 0.0) return lowest_equivalent(min_ns_);
  return value_at_rank(rank_of_quantile(q, count_));
}

std::int64_t histogram::value_at_rank(std::int64_t rank) const {
  if (empty()) return 0;
  rank = std::clamp<std::int64_t>(rank, 1, count_);
  std::int64_t seen = 0;
  std::size_t i = index_of(min_ns_);
  while ((seen += counts_[i]) < rank) ++i;
  return highest_at(i);
}

std::int64_t histogram::count_at_or_below(std::int64_t value_ns) const {
  if (empty() || value_ns < 0) return 0;
  const std::size_t end = index_of(std::min(value_ns, max_ns_)) + 1;
  std::int64_t seen = 0;
  for (std::size_t i = index_of(min_ns_); i < end; ++i) seen += counts_[i];
  return seen;
}

std::int64_t histogram::highest_equivalent(std::int64_t value_ns) const {
  return highest_at(index_of(value_ns));
}

std::int64_t histogram::lowest_equivalent(std::int64_t value_ns) const {
  return lowest_at(index_of(value_ns));
}

std::int64_t histogram::width_at(std::size_t index) const {
  const std::size_t half_bucket = index >> (sub_bucket_bits_ - 1);
  return std::int64_t{1} << (half_bucket == 0 ? 0 : half_bucket - 1);
}

std::int64_t histogram::lowest_at(std::size_t index) const {
  const std::size_t half_bucket = index >> (sub_bucket_bits_ - 1);
  if (half_bucket == 0) return static_cast<std::int64_t>(index);
  const std::size_t sub_bucket = index - ((half_bucket - 1) << (sub_bucket_bits_ - 1));
  return static_cast<std::int64_t>(sub_bucket << (half_bucket - 1));
}

void histogram::add_at_index(std::size_t index, std::int64_t count) {
  if (index >= counts_.size() || count < 0) {
    throw std::invalid_argument(fmt::format("no counter {} for a count of {} in a histogram of {}",
                                            index, count, counts_.size()));
  }
  if (count == 0) return;
  const std::int64_t lowest = lowest_at(index);
  counts_[index] += count;
  count_ += count;
  sum_ns_ += static_cast<__int128>(lowest + width_at(index) / 2) * count;
  min_ns_ = std::min(min_ns_, lowest);
  max_ns_ = std::max(max_ns_, highest_at(index));
}

void histogram::set_exact(const exact& e) {
  min_ns_ = e.min_ns;
  max_ns_ = e.max_ns;
  sum_ns_ = e.sum_ns;
  clamped_low_ = e.clamped_low;
  clamped_high_ = e.clamped_high;
}

}  // namespace lockmark::stats
