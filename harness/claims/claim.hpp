// What people say of distributed locks, each as an experiment that anyone can repeat.
//
// A claim has its prediction before any run, the runs that put it to the test, and a judge that
// reads nothing but what these runs wrote down.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/claims/evidence.hpp"

namespace lockmark::claims {

// One side of a comparison. All experiments of a claim are repeated in turn, so that a machine that
// slows down slows down all of them.
struct experiment {
  std::string label;     // "redis", "with renewal": how judge and report call it
  std::string job;       // a shipped job
  std::string topology;  // as deploy/local names it
  std::string lock;
  std::vector<std::string> set{};  // KEY=VALUE
  std::string query{};             // added to the target
};

enum class answer { confirmed, refuted, depends, inconclusive };

struct judgement {
  answer is = answer::inconclusive;
  std::string because;  // one sentence with the figures that decided
};

struct claim {
  std::string id;        // "7c"
  std::string says;      // in a few own words
  std::string predicts;  // written down before the run: what will be measured if it is true
  std::vector<experiment> experiments;
  judgement (*judge)(const evidence&);
};

// All of them, by number.
std::vector<claim> all_claims();

// What the statement leaves out: when it holds, and when it does not. Empty for an unknown id.
std::string_view condition_of(std::string_view id);

// "confirmed", ...
std::string_view name_of(answer a);

// The pieces of all_claims(), by subject.
std::vector<claim> claims_on_speed();
std::vector<claim> claims_on_leases();
std::vector<claim> claims_on_clusters();
std::vector<claim> claims_on_contention();

}  // namespace lockmark::claims
