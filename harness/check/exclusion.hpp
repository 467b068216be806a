// Did two clients ever hold one key? An exact, online check.
//
// A hold is the half-open interval from the grant to the moment before the release is sent. For
// well-formed histories a mutex is linearizable if and only if the holds of different clients are
// pairwise disjoint: put each acquire's effect at its answer and each release's at its sending.
// An acquire in doubt never entered; a release in doubt ended when it was sent. A semaphore of N
// leases is violated while more than N clients hold it; readers exclude writers, but not each
// other. A hold whose client has promised to leave the resource alone from a time on ends then,
// also if the client was stopped and releases later.
//
// Reads events in order of time (see merge.hpp); touches one key per event.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/check/clock_errors.hpp"
#include "harness/check/history.hpp"
#include "harness/check/hold.hpp"
#include "harness/check/hold_log.hpp"

namespace lockmark::check {

// A certain violation in short: when, and between which clients.
struct overlap {
  std::int64_t at_ns = 0;  // grant of the second
  std::uint32_t first_client = 0;
  std::uint32_t second_client = 0;
};

class exclusion {
 public:
  // `clocks`: how far those of two holders may differ; null: they share one. A longer overlap is
  // certain, a shorter one only possible. `holders`: how many clients may hold a key at once; 0:
  // any number. Keeps the first `keep` violations in full, between hosts only certain ones.
  explicit exclusion(std::size_t keys, const clock_errors* clocks = nullptr,
                     std::uint32_t holders = 1, std::size_t keep = 20);

  void granted(const event& e);
  void promised(const event& e);
  void released(const event& e);
  // The measured window begins: for the log.
  void window_begins(std::int64_t at_ns) { log_.begin(at_ns); }
  // Ends every open hold.
  void finish(std::int64_t end_ns);

  std::uint64_t certain() const { return certain_; }
  std::uint64_t possible() const { return possible_; }
  // Times that a key went from one client to another: the opportunities for a violation.
  std::uint64_t transfers() const { return transfers_; }
  const std::vector<violation>& examples() const { return examples_; }
  // The first 10,000 certain ones, in order of their ends.
  const std::vector<overlap>& overlaps() const { return overlaps_; }
  const hold_log& log() const { return log_; }

 private:
  struct key_state {
    std::vector<hold> open;        // usually none or one
    std::vector<violation> pairs;  // overlaps whose second end is not yet known
    std::uint32_t last_client = none;
  };
  static constexpr std::uint32_t none = static_cast<std::uint32_t>(-1);

  static std::vector<hold>::iterator hold_of(key_state& state, std::uint32_t client);
  void find_overlaps(key_state& state, const hold& entered, std::uint32_t key) const;
  void close(std::uint32_t key, std::size_t place, std::int64_t at_ns, bool at_end);
  void settle(violation v);

  std::vector<key_state> keys_;
  const clock_errors* clocks_;
  std::uint32_t holders_;
  std::size_t keep_;
  std::uint64_t certain_ = 0;
  std::uint64_t possible_ = 0;
  std::uint64_t transfers_ = 0;
  std::vector<violation> examples_;
  std::vector<overlap> overlaps_;
  hold_log log_;
};

}  // namespace lockmark::check
