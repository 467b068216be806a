// What people say of distributed locks, each as an experiment that anyone can repeat.
//
// A claim has its prediction before any run, the runs that put it to the test, and conditions on
// nothing but what these runs wrote down. All of them stand in workloads/claims.yaml.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/claims/evidence.hpp"

namespace lockmark::claims {

// One side of a comparison. All experiments of a claim are repeated in turn, so that a machine that
// slows down slows down all of them.
struct experiment {
  std::string label;     // "with renewal": how conditions and report call it
  std::string job;       // a shipped job
  std::string topology;  // as deploy/local names it
  std::string lock;
  std::vector<std::string> set{};  // KEY=VALUE
};

// What must be so for the claim to be true.
struct condition {
  enum class kind { falls, steady, above, below, two_hold, one_holds, recovers, never_recovers };
  kind is;
  std::vector<std::string> labels;
  const report::figure* of = nullptr;  // falls, steady, above, below
  double limit = 0;                    // steady: the ratio of the second to the first; above, below
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
  std::string mind;      // what the statement leaves out: when it holds, and when it does not
  std::vector<experiment> experiments;
  std::vector<condition> true_if;
  answer partly = answer::refuted;  // where some conditions are met and some are not
};

// Of a YAML file like workloads/claims.yaml, in its order. Throws usage_error: "NAME:LINE: ...".
std::vector<claim> read_claims(std::string_view text, std::string_view name);

// Inconclusive where a figure is missing, or where chance may have decided.
judgement judge(const claim& what, const evidence& found);

// "confirmed", ...
std::string_view name_of(answer a);

}  // namespace lockmark::claims
