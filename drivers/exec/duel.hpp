// For the interoperability tests: a real client and a lock of ours on the same keys. Does each
// respect the other's holds, wait for its releases, and notice when it loses a hold? Uses only the
// driver contract.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "harness/driver.hpp"

namespace lockmark::exec {

struct side {
  lock_kind kind{};
  std::string target{};
  option_values options{};   // those that differ from the presets
  std::string run_suffix{};  // not empty: a deliberate mistake, uses other keys
};

// How the two locks relate.
enum class relation : std::uint8_t {
  exclusive,  // one holder among both
  shared,     // both may hold at once: readers
  // One side takes the lock as a writer and holds it as a reader: the other side's readers come in
  // then, but it does not come in beside them.
  ours_join,  // ours are readers
  real_join,  // the real ones are
};

struct duel {
  side real;
  side ours;
  relation are = relation::exclusive;
};

// The result of one round; `failure` is empty if it passed.
struct finding_of_duel {
  std::string name;
  std::string failure;
};

// Plays all rounds that apply, or only some, each on a key of its own. Throws if the duel cannot
// even begin (a client that does not start).
std::vector<finding_of_duel> fight(const duel& d, const std::vector<std::string>& only = {});

// The names of the rounds that fight() will play.
std::vector<std::string> rounds_of(const duel& d);

// Clients of both sides on one key for some time.
struct crowd {
  std::uint32_t sessions = 2;  // of each side
  std::uint32_t clients = 10;  // of each session
  duration time{};
  duration hold = std::chrono::milliseconds{1};
  bool until_overlap = false;  // ends at the first one, `time` being how long it may take
};

struct crowd_result {
  std::uint64_t real_grants = 0;
  std::uint64_t our_grants = 0;
  std::uint64_t overlaps = 0;    // grants while another client held the key
  std::uint64_t lost_holds = 0;  // releases that returned not_owner
  std::uint64_t doubts = 0;
};
crowd_result mix(const duel& d, const crowd& c);

// For both.
inline constexpr duration patience = std::chrono::seconds{20};  // for operations that succeed
inline constexpr duration long_lease =
    std::chrono::seconds{20};  // longer than a woken waiter waits

// Unique on this host.
std::string name_of_run();

// Closes every session, also after one that fails to close, and then throws that failure: a session
// that is destroyed without having been closed still has messages on their way to it.
task<void> close_all(std::vector<std::unique_ptr<session>>& sessions);

// All options of the kind, preset or given.
option_values options_of(const side& s);

}  // namespace lockmark::exec
