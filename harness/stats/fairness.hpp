// Fairness of one lock: which clients were granted it, in which order, and which were passed over.
//
// A `key_fairness` is fed the grants of one key in grant order; its findings go into a
// `fairness_totals`, which many keys share and which adds up over threads and processes. Whole-run
// Jain alone hides starvation (a lock that serves one client for a second and then the next looks
// fair), hence the windows, the owner changes and the bypass counts.
//
// It orders nothing, reads no clock and does not synchronise: one thread per totals object.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "harness/stats/censored.hpp"
#include "harness/stats/histogram.hpp"

namespace lockmark::stats {

// Sums over keys. Ratios are weighted by grants, so rarely used keys weigh little.
class fairness_totals {
 public:
  std::int64_t grants() const { return grants_; }

  // Jain's index (sum x)^2 / (n * sum x^2) of grants per competing client over the whole run, and
  // its mean over consecutive windows of 4n grants (unfinished windows do not count): 1 if all got
  // the same, 1/n if one got everything. A fair lottery gets about 0.8 in the windows. NaN without
  // a grant, or without a whole window.
  double jain_run() const;
  double jain_windowed() const;
  // Lock working set size (Dave Dice, "Measuring short-term fairness for locks"): the mean number
  // of distinct winners in a window of 4n grants. NaN without a whole window.
  double working_set_size() const;
  // The share of grants that went to a different client than the previous grant. NaN if no grant
  // had a predecessor.
  double owner_change_share() const;
  std::int64_t windows() const { return windows_; }

  // Per grant: the number of grants until the same client had the key again; 1: at once, n: in
  // turn. Its median is Dice's MTTR. The "nanoseconds" of the histogram are grants.
  const histogram& reacquire_distance() const { return reacquire_; }
  // Per grant: the number of grants, while it waited, to clients that had invoked later.
  const histogram& bypass() const { return bypass_; }
  // The longest wait of a granted attempt, or of one given to add_unfinished().
  std::int64_t longest_wait_ns() const { return longest_wait_ns_; }

  // An attempt that ended without a grant, or had not ended, after waiting for `wait_ns`.
  void add_unfinished(std::int64_t wait_ns) {
    longest_wait_ns_ = std::max(longest_wait_ns_, wait_ns);
  }

  void merge(const fairness_totals& other);

 private:
  friend class key_fairness;
  void end_windows(std::int64_t n, std::int64_t length, double jain, std::int64_t winners);

  std::int64_t grants_ = 0;
  std::int64_t successions_ = 0;  // grants with an earlier grant of the same key
  std::int64_t owner_changes_ = 0;
  std::int64_t windows_ = 0;
  std::int64_t window_grants_ = 0;  // the sum of the windows' lengths
  double jain_windows_ = 0;         // weighted by the windows' lengths
  double winners_ = 0;              // likewise
  double jain_runs_ = 0;            // weighted by the keys' grants
  std::int64_t longest_wait_ns_ = 0;
  histogram reacquire_{2};
  histogram bypass_{2};
};

// The state of one key: 32 bytes, plus some kilobytes from the first grant on if there are several
// competitors.
class key_fairness {
 public:
  // `competitors`: how many clients compete for this key, at least 1. With one, every grant is
  // assumed to be that client's.
  explicit key_fairness(std::int64_t competitors);
  ~key_fairness();
  key_fairness(key_fairness&&) noexcept;
  key_fairness& operator=(key_fairness&&) noexcept;

  // The next grant of this key. All stamps come from one clock. A client has one attempt at a time.
  void grant(fairness_totals& totals, std::uint32_t client, std::int64_t invoked_ns,
             std::int64_t granted_ns) {
    ++grants_;
    totals.add_unfinished(granted_ns - invoked_ns);
    if (competitors_ > 1) grant_contended(totals, client, invoked_ns);
  }

  // Adds what is known only at the end (the run's Jain index) and resets the key. Call it once per
  // key before reading the totals.
  void finish(fairness_totals& totals);

  std::int64_t grants() const { return grants_; }
  std::int64_t competitors() const { return competitors_; }

  // Grants per client, in no particular order; empty for a key with one competitor.
  struct share {
    std::uint32_t client;
    std::int64_t grants;
  };
  std::vector<share> shares() const;

 private:
  struct contended;
  void grant_contended(fairness_totals& totals, std::uint32_t client, std::int64_t invoked_ns);

  std::int64_t competitors_;
  std::int64_t grants_ = 0;
  std::unique_ptr<contended> state_;
};

// How the attempts of each client ended. Totals hide a client that is never served: the less it is
// served, the fewer of the attempts are its own.
class client_outcomes {
 public:
  // More clients have no quantiles of their own: 37 KB of memory each.
  static constexpr std::size_t most_with_quantiles = 400;
  // A client's share of fewer attempts says little.
  static constexpr std::int64_t least_attempts = 5;

  explicit client_outcomes(std::size_t clients);

  void granted(std::uint32_t client, std::int64_t response_ns);
  void not_granted(std::uint32_t client, std::int64_t waited_ns);

  struct share {
    std::uint32_t client = 0;
    std::int64_t attempts = 0;
    std::int64_t granted = 0;
  };
  struct quantile {
    std::uint32_t client = 0;
    std::int64_t attempts = 0;
    bool supported = false;  // by the client's attempts; a value that exceeds T may be so by few
    quantile_ns value;
  };
  struct summary {
    std::uint64_t attempted = 0;      // clients of which an attempt ended
    std::uint64_t never_granted = 0;  // of these, starving ones
    std::optional<share> lowest_success;
    std::optional<quantile> highest_p99;  // none also if there are too many clients
    bool too_many_for_quantiles = false;
  };
  struct measurement {
    std::int64_t window_ns = 0;
    // Of each client in the window. Once the load ends, an attempt of the window may be granted
    // only because nobody else wants the lock any more.
    std::span<const std::uint64_t> grants;
    std::int64_t limit_ns = 0;  // as in `attempts`
  };
  // A client starves that had no grant in the window, although `least_attempts` failed, or two or
  // more that took half of the window.
  summary summarised(const measurement& m) const;

 private:
  struct entry {
    std::int64_t granted = 0;
    std::int64_t not_granted = 0;
    std::int64_t waited_ns = 0;  // in vain
    std::unique_ptr<histogram> responses;
    std::int64_t attempts() const { return granted + not_granted; }
  };
  bool starves(std::uint32_t client, const measurement& m) const;

  std::vector<entry> clients_;
};

}  // namespace lockmark::stats
