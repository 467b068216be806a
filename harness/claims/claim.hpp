// Common claims about distributed locks, each as an experiment that anyone can repeat.
//
// A claim has a prediction made before any run, the runs that test it, and conditions on nothing
// but those runs' records. All claims are in workloads/claims.yaml.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/claims/evidence.hpp"

namespace lockmark::claims {

// One side of a comparison. All experiments of a claim are repeated in turn, so a machine that
// slows down slows all of them.
struct experiment {
  std::string label;     // "with renewal": the name in conditions and in the report
  std::string job;       // a shipped job
  std::string topology;  // a name from deploy/local
  std::string lock;
  std::vector<std::string> set{};  // KEY=VALUE
};

// A condition for the claim to be true.
struct condition {
  enum class kind {
    falls,
    steady,
    above,
    below,
    never,
    two_hold,
    one_holds,
    recovers,
    never_recovers
  };
  kind is;
  std::vector<std::string> labels;
  const report::figure* of = nullptr;  // falls, steady, above, below, never
  double limit = 0;                    // steady: the ratio of the second to the first; above, below
};

enum class answer { confirmed, refuted, depends, inconclusive };

struct judgement {
  answer is = answer::inconclusive;
  std::string because;  // one sentence with the figures that decided
  // The same of the explanation; empty: none is claimed.
  answer explained = answer::inconclusive;
  std::string explanation{};
};

struct claim {
  std::string id;        // "7c"
  std::string says;      // in a few words of our own
  std::string predicts;  // written before the run: the measurements if it is true
  std::string mind;      // the statement's omissions: when it holds, and when not
  std::vector<experiment> experiments;
  std::vector<condition> true_if;
  answer partly = answer::refuted;  // if only some conditions are met
  // What must be seen, too, if `mind` gives the reason; may be empty.
  std::vector<condition> explained_if{};
};

// Reads a YAML file like workloads/claims.yaml, in its order. Throws usage_error: "NAME:LINE: ...".
std::vector<claim> read_claims(std::string_view text, std::string_view name);

// Inconclusive if a figure is missing, or if chance may have decided.
judgement judge(const claim& what, const evidence& found);

// "confirmed", ...
std::string_view name_of(answer a);

}  // namespace lockmark::claims
