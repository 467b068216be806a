// An HDR histogram of durations: constant cost to record, bounded relative error, exact merging.
//
// The layout is bit-compatible with HdrHistogram (Gil Tene, http://hdrhistogram.org; public
// domain): values are grouped into buckets of doubling width, each split into a power of two of
// equal sub-buckets, so that any two values with the same counter differ by less than 10^-digits.
// The range is fixed, so all histograms of the project with equal digits can be merged.
//
// It does not encode itself (hdr_encoding.hpp), interpolate, resize, subtract, or synchronise: one
// writer, and no reader while it writes.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lockmark::stats {

class histogram {
 public:
  static constexpr std::int64_t lowest_ns = 1;
  static constexpr std::int64_t highest_ns = 3'600'000'000'000;  // one hour

  // `significant_digits` in 1..4, else std::invalid_argument. Memory: 5 KB, 37 KB, 270 KB, 3.8 MB.
  explicit histogram(int significant_digits = 3);

  // Adds `count` observations of `value_ns`. Outside 0..highest_ns the value is clamped and counted
  // in clamped_low() or clamped_high(). No allocation, no lock, no exception. `count` >= 0.
  void record(std::int64_t value_ns) { record(value_ns, 1); }
  void record(std::int64_t value_ns, std::int64_t count) {
    if (static_cast<std::uint64_t>(value_ns) > static_cast<std::uint64_t>(highest_ns)) [[unlikely]]
      value_ns = clamp_and_count(value_ns, count);
    if (count == 0) [[unlikely]]
      return;
    counts_[index_of(value_ns)] += count;
    count_ += count;
    sum_ns_ += static_cast<__int128>(value_ns) * count;
    min_ns_ = std::min(min_ns_, value_ns);
    max_ns_ = std::max(max_ns_, value_ns);
  }

  // Adds the other's observations; the order of merges does not affect the result.
  // std::invalid_argument if the digits differ.
  void merge(const histogram& other);
  void reset();

  bool empty() const { return count_ == 0; }
  std::int64_t count() const { return count_; }
  // Exact, not rounded to a bucket; 0 if empty. (A decoded histogram knows its buckets only.)
  std::int64_t min_ns() const { return count_ == 0 ? 0 : min_ns_; }
  std::int64_t max_ns() const { return max_ns_; }
  __int128 sum_ns() const { return sum_ns_; }
  double mean_ns() const;
  std::int64_t clamped_low() const { return clamped_low_; }
  std::int64_t clamped_high() const { return clamped_high_; }

  // The value at quantile q of 0..1 (clamped): the highest value of the bucket that holds the
  // observation of rank ceil(q * count), as Java's getValueAtPercentile(100 * q); for q = 0 the
  // lowest value of the first bucket. 0 if empty.
  std::int64_t value_at_quantile(double q) const;
  // The highest value of the bucket of the rank-th smallest observation; rank is clamped to
  // 1..count. 0 if empty.
  std::int64_t value_at_rank(std::int64_t rank) const;
  // How many observations fell into the bucket of `value_ns` or below it.
  std::int64_t count_at_or_below(std::int64_t value_ns) const;
  // The rank that value_at_quantile(q) reads in a sample of n: ceil(q * n), at least 1.
  static std::int64_t rank_of_quantile(double q, std::int64_t n);

  // Calls visit(lowest_ns, highest_ns, count) for each bucket with a count, in ascending order.
  template <typename visitor>
  void for_each_bucket(visitor&& visit) const {
    if (empty()) return;
    for (std::size_t i = index_of(min_ns_), end = index_of(max_ns_) + 1; i < end; ++i) {
      if (counts_[i] != 0) visit(lowest_at(i), highest_at(i), counts_[i]);
    }
  }

  // The largest and smallest value counted together with `value_ns` (of 0..highest_ns).
  std::int64_t highest_equivalent(std::int64_t value_ns) const;
  std::int64_t lowest_equivalent(std::int64_t value_ns) const;

  // For encoders and reductions: the counters in HdrHistogram's order.
  int significant_digits() const { return significant_digits_; }
  std::span<const std::int64_t> counts() const { return counts_; }
  // Counters beyond this index are zero.
  std::size_t used_counts() const { return empty() ? 0 : index_of(max_ns_) + 1; }
  // Counters below this index are zero.
  std::size_t unused_counts() const { return empty() ? 0 : index_of(min_ns_); }
  // Adds observations of which only the counter is known: minimum, maximum and sum are then those
  // of the bucket's lowest, highest and middle value. std::invalid_argument outside the layout or
  // for a negative count.
  void add_at_index(std::size_t index, std::int64_t count);

  // Statistics that the counters do not contain. set_exact() is for callers that have just added
  // all counters of another histogram by index, and know its statistics.
  struct exact {
    std::int64_t min_ns = highest_ns;
    std::int64_t max_ns = 0;
    __int128 sum_ns = 0;
    std::int64_t clamped_low = 0;
    std::int64_t clamped_high = 0;
  };
  exact exactly() const { return {min_ns_, max_ns_, sum_ns_, clamped_low_, clamped_high_}; }
  void set_exact(const exact& e);

  bool operator==(const histogram&) const = default;

 private:
  std::size_t index_of(std::int64_t value_ns) const {
    const auto bits = static_cast<std::uint64_t>(value_ns);
    const int bucket = static_cast<int>(std::bit_width(bits | sub_bucket_mask_)) - sub_bucket_bits_;
    return (static_cast<std::size_t>(bucket) << (sub_bucket_bits_ - 1)) + (bits >> bucket);
  }
  std::int64_t lowest_at(std::size_t index) const;
  std::int64_t width_at(std::size_t index) const;
  std::int64_t highest_at(std::size_t index) const {
    return lowest_at(index) + width_at(index) - 1;
  }
  std::int64_t clamp_and_count(std::int64_t value_ns, std::int64_t count);

  int significant_digits_;
  int sub_bucket_bits_;            // log2 of the sub-buckets of a bucket
  std::uint64_t sub_bucket_mask_;  // 2^sub_bucket_bits_ - 1
  std::vector<std::int64_t> counts_;
  std::int64_t count_ = 0;
  std::int64_t min_ns_ = highest_ns;
  std::int64_t max_ns_ = 0;
  __int128 sum_ns_ = 0;
  std::int64_t clamped_low_ = 0;
  std::int64_t clamped_high_ = 0;
};

}  // namespace lockmark::stats
