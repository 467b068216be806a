// For the interoperability tests: a real client and a lock of ours on the same keys, and whether
// each respects what the other holds, waits for, and loses. Only the driver contract is used.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/driver.hpp"

namespace lockmark::exec {

struct side {
  lock_kind kind{};
  std::string target{};
  option_values options{};   // that differ from the presets
  std::string run_suffix{};  // not empty: looks for the keys elsewhere, which is a mistake
};

// What the two are to each other.
enum class relation : std::uint8_t {
  exclusive,  // one holder among both
  shared,     // both may hold at once: readers
};

struct duel {
  side real;
  side ours;
  relation are = relation::exclusive;
};

// One thing that was tried; `failure` is empty where it went as it should.
struct finding_of_duel {
  std::string name;
  std::string failure;
};

// Tries everything that applies, or only some of it, each on a key of its own. What cannot even
// begin (a client that does not start) is thrown.
std::vector<finding_of_duel> fight(const duel& d, const std::vector<std::string>& only = {});

// The names of what fight() will try.
std::vector<std::string> rounds_of(const duel& d);

// Both sides' clients on one key for some time.
struct crowd {
  std::uint32_t sessions = 2;  // of each side
  std::uint32_t clients = 10;  // of each session
  duration time{};
};

struct crowd_result {
  std::uint64_t real_grants = 0;
  std::uint64_t our_grants = 0;
  std::uint64_t overlaps = 0;    // grants while another held the key
  std::uint64_t lost_holds = 0;  // releases that said not_owner
  std::uint64_t doubts = 0;
};
crowd_result mix(const duel& d, const crowd& c);

// All options of the kind, preset or given.
option_values options_of(const side& s);

}  // namespace lockmark::exec
