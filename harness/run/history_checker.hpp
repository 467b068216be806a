// Reads the merged history of a run and derives everything that depends on the order of events:
// exclusion, tokens, lost updates, hand-off, fairness, and the time integral of clients in flight.
//
// Exclusion, tokens and lost updates are checked over the whole history; the figures come from the
// measured window. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "harness/check/aftermath.hpp"
#include "harness/check/exclusion.hpp"
#include "harness/check/exposure.hpp"
#include "harness/check/guard.hpp"
#include "harness/check/handoff.hpp"
#include "harness/check/lost_update.hpp"
#include "harness/check/token_order.hpp"
#include "harness/features.hpp"
#include "harness/run/phases.hpp"
#include "harness/stats/fairness.hpp"
#include "harness/stats/histogram.hpp"

namespace lockmark::run {

// A time in the window without a grant on any key.
struct gap {
  std::int64_t length_ns = 0;
  std::int64_t began_ns = 0;
};

struct findings {
  std::uint64_t certain_violations = 0;
  std::uint64_t possible_violations = 0;
  std::vector<check::violation> violations;  // the first ones in full
  std::vector<check::overlap> overlaps;      // the first 10,000 certain ones
  check::holds_of_key first_holds;           // of the window, of one key
  check::holds_of_key violation_holds;       // around the first violation, unless among those
  // All grants, including those before the window, and the keys wanted in vain; if requested.
  std::vector<check::grant_stamp> grant_stamps;
  std::vector<check::unserved_key> unserved;
  std::uint64_t stale_tokens = 0;
  std::uint64_t lost_updates = 0;
  std::optional<check::guard_counts> guard;  // of a job with a guarded resource
  std::uint64_t orphaned = 0;                // holds whose client died
  std::int64_t longest_orphaned_ns = 0;      // from such a death to the next grant of the key
  std::uint64_t transfers = 0;               // changes of owner in the whole history
  std::uint64_t chances = 0;        // at which a wrong grant would have been seen; see exposure
  std::uint64_t lasting_holds = 0;  // during which others could have been answered

  // In the window:
  std::uint64_t grants = 0;    // optimistic: commits
  std::int64_t held_ns = 0;    // sum over keys of the time with a holder
  std::int64_t handed_ns = 0;  // sum of all hand-offs and idle times before its grants
  std::int64_t idle_while_wanted_ns = 0;
  stats::histogram transfer;
  stats::histogram self_reacquire;
  stats::fairness_totals fairness;
  std::vector<std::uint64_t> grants_by_client;
  stats::client_outcomes::summary clients;  // of attempts that count; after finish()
  std::int64_t longest_gap_ns = 0;          // without a grant on any key
  std::int64_t gap_began_ns = 0;
  std::vector<gap> gaps;         // the 32 longest
  double clients_in_flight = 0;  // mean, from the stamps; 0 without a finished window
};

class history_checker {
 public:
  struct shape {
    std::size_t keys = 1;
    std::size_t clients = 1;
    std::size_t competitors = 1;  // for each key
    features lock_has;
    std::uint32_t holders = 1;                    // of a key at once; 0: any number
    const check::clock_errors* clocks = nullptr;  // of the clients; null: they share one
    std::int64_t wait_ns = 0;                     // an attempt not granted by then has failed
    bool mixes_readers = false;                   // with writers, of whom one holds a key
    bool keeps_grants = false;                    // for jobs with faults, to find the next grant
  };
  history_checker(const shape& s, const window& w);

  // The next event, in order of time.
  void see(const check::event& e);

  // No further events. `end_ns`: the end of the run.
  void finish(std::int64_t end_ns);

  check::lost_updates& updates() { return updates_; }
  // So far; complete after finish().
  std::uint64_t violations_so_far() const { return exclusion_.certain(); }
  std::uint64_t transfers_so_far() const { return exclusion_.transfers(); }
  findings result() const;

 private:
  void began(const check::event& e);
  void ended(const check::event& e);
  void granted(const check::event& e);
  void released(const check::event& e);
  void died(const check::event& e);
  void count_outcome(const check::event& e);
  void count_grant(const check::event& e);
  void cross_edges(std::int64_t at_ns);
  void end_of_window(std::int64_t at_ns);
  bool counts(std::uint32_t client) const;
  void see_gap(std::int64_t until_ns);
  void keep_gap(const gap& g);
  void change_in_flight(std::int64_t at_ns, int by);
  void integrate_until(std::int64_t at_ns);

  struct attempt {
    std::int64_t began_ns = 0;
    std::int64_t due_ns = 0;  // its intended start
    bool open = false;
  };

  const window& window_;
  features lock_has_;
  std::int64_t wait_ns_;
  check::exclusion exclusion_;
  check::exposure exposure_;
  check::token_order tokens_;
  check::lost_updates updates_;
  check::handoffs handoffs_;
  std::optional<check::grant_log> log_;
  std::vector<stats::key_fairness> fairness_;
  std::vector<attempt> attempts_;  // the latest of each client
  stats::client_outcomes outcomes_;
  findings found_;

  std::int64_t in_flight_ = 0;
  std::int64_t integrated_until_ns_ = 0;
  __int128 in_flight_area_ns_ = 0;
  check::key_times before_window_;
  std::int64_t last_grant_ns_ = 0;  // or the beginning of the window
  std::int64_t least_kept_gap_ns_ = 0;
  bool in_window_ = false;
  bool past_window_ = false;
};

}  // namespace lockmark::run
