// The moving-block bootstrap of confidence.hpp.
//
// A resample is a sum of blocks, and there are few distinct blocks; so each block's sum is computed
// once, as an array over the values that occur at all, and a resample adds such arrays.

#include <algorithm>
#include <cmath>

#include "harness/stats/confidence.hpp"
#include "harness/stats/random.hpp"

namespace lockmark::stats {

// The sums of all blocks of consecutive rows: one array of counts per block, over common values.
class block_sums {
 public:
  block_sums(const std::vector<interval_bootstrap::row>& rows, std::size_t block) {
    for (const auto& row : rows) {
      for (const auto& cell : row.cells) values_.push_back(cell.value_ns);
    }
    std::sort(values_.begin(), values_.end());
    values_.erase(std::unique(values_.begin(), values_.end()), values_.end());

    blocks_ = rows.size() - block + 1;
    counts_.resize(blocks_ * values_.size());
    censored_.resize(blocks_);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const std::size_t first = r + 1 >= block ? r + 1 - block : 0;
      for (std::size_t b = first; b <= std::min(r, blocks_ - 1); ++b) add(rows[r], b);
    }
  }

  std::size_t blocks() const { return blocks_; }
  const std::vector<std::int64_t>& values() const { return values_; }

  void add_block_to(std::size_t b, std::vector<std::int64_t>& counts,
                    std::int64_t& censored) const {
    const std::int64_t* source = counts_.data() + b * values_.size();
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += source[i];
    censored += censored_[b];
  }

 private:
  void add(const interval_bootstrap::row& row, std::size_t b) {
    std::int64_t* target = counts_.data() + b * values_.size();
    std::size_t i = 0;
    for (const auto& cell : row.cells) {
      while (values_[i] != cell.value_ns) ++i;
      target[i] += cell.count;
    }
    censored_[b] += row.censored;
  }

  std::size_t blocks_ = 0;
  std::vector<std::int64_t> values_;  // ascending
  std::vector<std::int64_t> counts_;  // blocks_ x values_
  std::vector<std::int64_t> censored_;
};

namespace {

// A censored quantile while sorting: above any value.
constexpr std::int64_t beyond_ns = histogram::highest_ns * 2;

// Reads quantiles in ascending order of rank off one resample.
void read_quantiles(std::span<const double> quantiles, const std::vector<std::int64_t>& values,
                    const std::vector<std::int64_t>& counts, std::int64_t censored,
                    std::vector<std::vector<std::int64_t>>& results) {
  std::int64_t granted = 0;
  for (std::int64_t c : counts) granted += c;
  if (granted + censored == 0) return;  // a stretch without attempts
  for (std::size_t k = 0; k < quantiles.size(); ++k) {
    const std::int64_t rank = histogram::rank_of_quantile(quantiles[k], granted + censored);
    if (rank > granted) {
      results[k].push_back(beyond_ns);
      continue;
    }
    std::int64_t seen = 0;
    std::size_t i = 0;
    while ((seen += counts[i]) < rank) ++i;
    results[k].push_back(values[i]);
  }
}

// How much wider an interval from k blocks must be than the percentiles of the draws. Resampling k
// blocks shows only (k - 1) / k of the variance, and that from a small sample: Student's t for the
// 1.5 (k - 1) degrees of freedom of overlapping blocks (Meketon and Schmeiser, 1984), by its
// expansion around the normal quantile.
double small_sample_factor(std::size_t blocks) {
  constexpr double z = 1.959964;
  constexpr double z3 = z * z * z;
  const auto k = static_cast<double>(blocks);
  const double freedom = 1.5 * (k - 1);
  const double t =
      z + (z3 + z) / (4 * freedom) + (5 * z3 * z * z + 16 * z3 + 3 * z) / (96 * freedom * freedom);
  return std::sqrt(k / (k - 1)) * t / z;
}

// Moves `value_ns` away from `centre_ns` by `factor` on a logarithmic scale.
std::int64_t moved_away(std::int64_t value_ns, std::int64_t centre_ns, double factor) {
  const double centre = std::max(1.0, static_cast<double>(centre_ns));
  const double distance = std::log(std::max(1.0, static_cast<double>(value_ns)) / centre);
  const double moved = centre * std::exp(distance * factor);
  return std::llround(std::min(moved, static_cast<double>(histogram::highest_ns)));
}

confidence_interval percentile_interval(std::vector<std::int64_t>& draws, std::int64_t limit_ns,
                                        double factor) {
  std::sort(draws.begin(), draws.end());
  const auto draw_at = [&](double share) {
    const double place = std::round(share * static_cast<double>(draws.size() - 1));
    return draws[static_cast<std::size_t>(place)];
  };
  const std::int64_t centre = draw_at(0.5);
  const auto end_at = [&](double share) -> quantile_ns {
    const std::int64_t value = draw_at(share);
    if (value == beyond_ns) return {limit_ns, true};
    return {centre == beyond_ns ? value : moved_away(value, centre, factor), false};
  };
  return {end_at((1 - confidence_level) / 2), end_at((1 + confidence_level) / 2)};
}

}  // namespace

void interval_bootstrap::add(const histogram& granted, std::int64_t censored) {
  row added;
  added.censored = censored;
  granted.for_each_bucket([&](std::int64_t, std::int64_t highest_ns, std::int64_t count) {
    added.cells.push_back({highest_ns, count});
  });
  if (intervals_in_last_ > 0 && intervals_in_last_ < intervals_per_row_) {
    rows_.back() = combine(rows_.back(), added);
    ++intervals_in_last_;
    return;
  }
  if (rows_.size() == most_rows) halve();
  rows_.push_back(std::move(added));
  intervals_in_last_ = 1;
}

interval_bootstrap::row interval_bootstrap::combine(const row& a, const row& b) {
  row sum;
  sum.censored = a.censored + b.censored;
  auto x = a.cells.begin();
  auto y = b.cells.begin();
  while (x != a.cells.end() || y != b.cells.end()) {
    const bool take_x = y == b.cells.end() || (x != a.cells.end() && x->value_ns <= y->value_ns);
    const cell next = take_x ? *x++ : *y++;
    if (!sum.cells.empty() && sum.cells.back().value_ns == next.value_ns) {
      sum.cells.back().count += next.count;
    } else {
      sum.cells.push_back(next);
    }
  }
  return sum;
}

void interval_bootstrap::halve() {
  std::vector<row> half;
  for (std::size_t i = 0; i + 1 < rows_.size(); i += 2) {
    half.push_back(combine(rows_[i], rows_[i + 1]));
  }
  rows_ = std::move(half);
  intervals_per_row_ *= 2;
}

std::vector<interval_bootstrap::row_sum> interval_bootstrap::row_sums(
    std::int64_t late_after_ns, std::int64_t censored_ns) const {
  std::vector<row_sum> sums;
  for (const row& r : rows_) {
    row_sum sum{r.censored, r.censored,
                static_cast<double>(r.censored) * static_cast<double>(censored_ns)};
    for (const cell& c : r.cells) {
      sum.attempts += c.count;
      if (c.value_ns > late_after_ns) sum.late += c.count;
      sum.sum_ns += static_cast<double>(c.count) * static_cast<double>(c.value_ns);
    }
    sums.push_back(sum);
  }
  if (intervals_in_last_ < intervals_per_row_ && !sums.empty()) sums.pop_back();
  return sums;
}

std::vector<std::optional<confidence_interval>> interval_bootstrap::intervals(
    std::span<const double> quantiles, std::int64_t limit_ns, std::uint64_t seed,
    int resamples) const {
  std::vector<std::optional<confidence_interval>> result(quantiles.size());
  if (rows_.size() < 2 * block || resamples < 1) return result;

  const block_sums blocks(rows_, block);
  const std::size_t draws = (rows_.size() + block - 1) / block;
  std::vector<std::vector<std::int64_t>> found(quantiles.size());
  std::vector<std::int64_t> counts(blocks.values().size());
  random_source rng(seed);
  for (int i = 0; i < resamples; ++i) {
    std::fill(counts.begin(), counts.end(), 0);
    std::int64_t censored = 0;
    for (std::size_t d = 0; d < draws; ++d) {
      blocks.add_block_to(rng.below(blocks.blocks()), counts, censored);
    }
    read_quantiles(quantiles, blocks.values(), counts, censored, found);
  }
  const double factor = small_sample_factor(rows_.size() / block);
  for (std::size_t k = 0; k < quantiles.size(); ++k) {
    if (!found[k].empty()) result[k] = percentile_interval(found[k], limit_ns, factor);
  }
  return result;
}

}  // namespace lockmark::stats
