// How often a grant was overtaken, from the grants alone: counts, for each grant of a key in grant
// order, the earlier grants that were invoked later.
//
// A client has one attempt at a time, so an earlier grant invoked after mine was made, while I
// waited, to a client that came later. These are the inversions of the invocation stamps in grant
// order, counted by insertion into a sorted array: a grant overtakes at most n - 1 waiting clients,
// hence on average fewer than n stamps are moved per grant.
//
// The array keeps the latest stamps only, at least max(256, 4n): counts up to there are exact.
// Beyond, they are interpolated between the stamps kept of every discarded batch, and after 65,536
// batches they are lower bounds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lockmark::stats {

class invocation_order {
 public:
  explicit invocation_order(std::int64_t competitors)
      : batch_(static_cast<std::size_t>(std::max<std::int64_t>(256, 4 * competitors))) {}

  // Adds the next grant; returns how many grants before it were invoked after it.
  std::int64_t add(std::int64_t invoked_ns) {
    if (latest_.empty() || invoked_ns >= latest_.back()) [[likely]] {
      append(invoked_ns);
      return 0;
    }
    const auto place = find_place(invoked_ns);
    const std::int64_t overtakers = latest_.end() - place;
    if (place == latest_.begin() && !discarded_.empty()) {
      return overtakers + discarded_after(invoked_ns);
    }
    latest_.insert(place, invoked_ns);
    trim();
    return overtakers;
  }

 private:
  static constexpr std::size_t most_batches = 65'536;

  // Most grants belong near the end, where a short walk is cheaper than a search with unpredictable
  // branches.
  std::vector<std::int64_t>::iterator find_place(std::int64_t invoked_ns) {
    constexpr std::size_t longest_walk = 48;
    const std::size_t walk = std::min(longest_walk, latest_.size());
    const auto nearest = latest_.end() - static_cast<std::ptrdiff_t>(walk);
    auto place = latest_.end();
    while (place != nearest && *(place - 1) > invoked_ns) --place;
    if (place != nearest) return place;
    return std::upper_bound(latest_.begin(), nearest, invoked_ns);
  }

  void append(std::int64_t invoked_ns) {
    latest_.push_back(invoked_ns);
    trim();
  }

  void trim() {
    if (latest_.size() < 2 * batch_) return;
    if (discarded_.empty()) discarded_.push_back(latest_.front());
    discarded_.push_back(latest_[batch_ - 1]);
    latest_.erase(latest_.begin(), latest_.begin() + static_cast<std::ptrdiff_t>(batch_));
    if (discarded_.size() > most_batches) {
      discarded_.erase(discarded_.begin(), discarded_.begin() + most_batches / 2);
    }
  }

  // How many discarded stamps are later than `invoked_ns`.
  std::int64_t discarded_after(std::int64_t invoked_ns) const {
    const auto later = std::upper_bound(discarded_.begin(), discarded_.end(), invoked_ns);
    if (later == discarded_.end()) return 0;
    const auto whole = static_cast<double>(discarded_.end() - later - 1);
    const auto batch = static_cast<double>(batch_);
    if (later == discarded_.begin()) return static_cast<std::int64_t>(whole * batch);
    const double width = static_cast<double>(*later - *(later - 1));
    const double part = static_cast<double>(*later - invoked_ns) / width;
    return static_cast<std::int64_t>((whole + part) * batch);
  }

  std::size_t batch_;
  std::vector<std::int64_t> latest_;     // ascending
  std::vector<std::int64_t> discarded_;  // the first stamp, then each batch's last; ascending
};

}  // namespace lockmark::stats
