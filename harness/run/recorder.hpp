// The measurements of one worker thread: histograms and counts of the current interval.
//
// The worker is the only writer and takes no lock to record. Once per interval it swaps the whole
// set for a fresh one; the full one then belongs to the reader, who returns it empty.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/driver.hpp"
#include "harness/run/tally.hpp"
#include "harness/stats/censored.hpp"
#include "harness/stats/histogram.hpp"

namespace lockmark::run {

// The durations that a worker stamps, of counted attempts.
enum class series : std::uint8_t {
  response,   // granted - intended: how long a user of the lock waits
  service,    // granted - sent: how long the lock takes
  timer_lag,  // sent late despite a free client: the harness's own error
  queue_lag,  // sent late because every client was busy: the load's concurrency
  hold,       // from grant to the sending of the release
  release,    // from there to the release's answer
  loop_lag,   // overshoot of the worker's own heartbeat
  pipe,       // subtracted from response and service: to and from a client's process; 0: unknown
  renewal,    // from when a renewal was due to the server's answer
};
inline constexpr std::array<std::string_view, 9> series_names{"response",  "service", "timer_lag",
                                                              "queue_lag", "hold",    "release",
                                                              "loop_lag",  "pipe",    "renewal"};

// A time in which a worker did nothing, though it was to wake every few milliseconds.
struct freeze {
  std::int64_t from_ns = 0;
  std::int64_t for_ns = 0;
  std::uint64_t worker = 0;

  std::int64_t until_ns() const { return from_ns + for_ns; }
};
// Shorter stalls are hiccups. A busy machine has some of a tenth of a second.
inline constexpr duration least_freeze = std::chrono::milliseconds{100};

struct interval {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::array<stats::histogram, series_names.size()> durations;
  tally counts;
  traffic sent;  // during the interval, for any attempt
  std::vector<freeze> freezes;

  stats::histogram& operator[](series s) { return durations[static_cast<std::size_t>(s)]; }
  const stats::histogram& operator[](series s) const {
    return durations[static_cast<std::size_t>(s)];
  }

  void merge(const interval& other) {
    for (std::size_t i = 0; i < durations.size(); ++i) durations[i].merge(other.durations[i]);
    counts += other.counts;
    sent += other.sent;
    freezes.insert(freezes.end(), other.freezes.begin(), other.freezes.end());
  }
  // Of all attempts that ended in it. `s`: response or service.
  stats::attempts all_attempts(series s, std::chrono::nanoseconds wait) const {
    return {(*this)[s], static_cast<std::int64_t>(counts.not_granted()), wait.count()};
  }
  void reset() {
    for (stats::histogram& h : durations) h.reset();
    counts = tally{};
    sent = traffic{};
    freezes.clear();
  }
};

class recorder {
 public:
  // `writes`: there is a writer here. Otherwise all intervals are delivered, and none of a megabyte
  // is kept for one.
  explicit recorder(bool writes = true)
      : current_(writes ? std::make_unique<interval>() : nullptr) {}

  void record(series s, std::int64_t ns, std::int64_t times = 1) {
    (*current_)[s].record(ns, times);
  }
  void froze(const freeze& f) { current_->freezes.push_back(f); }
  void count(counter c, std::uint64_t n = 1) { current_->counts[c] += n; }
  void sent(const traffic& meanwhile) { current_->sent += meanwhile; }

  // Writer: ends the current interval at `now_ns`.
  void swap(std::int64_t now_ns) {
    current_->end_ns = now_ns;
    std::unique_ptr<interval> fresh;
    {
      const std::lock_guard guard(mutex_);
      full_.push_back(std::move(current_));
      if (!spare_.empty()) {
        fresh = std::move(spare_.back());
        spare_.pop_back();
      }
    }
    current_ = fresh ? std::move(fresh) : std::make_unique<interval>();
    current_->start_ns = now_ns;
  }

  // For an interval that another process has recorded, instead of a writer here.
  void deliver(std::unique_ptr<interval> whole) {
    const std::lock_guard guard(mutex_);
    full_.push_back(std::move(whole));
  }

  // An empty interval to fill.
  std::unique_ptr<interval> blank() {
    const std::lock_guard guard(mutex_);
    if (spare_.empty()) return std::make_unique<interval>();
    std::unique_ptr<interval> used = std::move(spare_.back());
    spare_.pop_back();
    return used;
  }

  // Reader: the intervals that have ended, oldest first.
  std::vector<std::unique_ptr<interval>> take() {
    const std::lock_guard guard(mutex_);
    return std::exchange(full_, {});
  }

  // Reader: returns an interval for reuse.
  void give_back(std::unique_ptr<interval> used) {
    used->reset();
    const std::lock_guard guard(mutex_);
    spare_.push_back(std::move(used));
  }

 private:
  std::unique_ptr<interval> current_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<interval>> full_;
  std::vector<std::unique_ptr<interval>> spare_;
};

}  // namespace lockmark::run
