#include "harness/claims/claim.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lockmark::claims {
namespace {

judgement missing(std::string_view label) {
  return {answer::inconclusive, fmt::format("{} gave no complete run with this figure", label)};
}

void add(std::string& sentence, std::string_view separator, std::string more) {
  sentence += sentence.empty() ? more : fmt::format("{}{}", separator, more);
}

// Confirmed if each is above the next, refuted if any is clearly below the next, inconclusive
// otherwise.
judgement falls(const condition& c, const evidence& e) {
  judgement j{answer::confirmed, ""};
  std::optional<figure> before;
  for (const std::string& label : c.labels) {
    const auto now = e.of(label, *c.of);
    if (!now) return missing(label);
    add(j.because, ", ", fmt::format("{} {}", label, show(*now, *c.of)));
    if (before) {
      const order o = compare(*before, *now);
      if (o == order::below) j.is = answer::refuted;
      if (o == order::unclear && j.is == answer::confirmed) j.is = answer::inconclusive;
    }
    before = now;
  }
  return j;
}

// Below the limit in all runs, in none, or only in some.
answer below(double least, double most, double limit) {
  if (most < limit) return answer::confirmed;
  return least >= limit ? answer::refuted : answer::inconclusive;
}

answer above(double least, double most, double limit) {
  if (least > limit) return answer::confirmed;
  return most <= limit ? answer::refuted : answer::inconclusive;
}

judgement is_steady(const condition& c, const evidence& e) {
  const auto first = e.of(c.labels.at(0), *c.of);
  const auto second = e.of(c.labels.at(1), *c.of);
  if (!first) return missing(c.labels[0]);
  if (!second) return missing(c.labels[1]);
  const answer steady =
      below(second->least() / first->most(), second->most() / first->least(), c.limit);
  return {steady, fmt::format("{} {}, {} {}", c.labels[0], show(*first, *c.of), c.labels[1],
                              show(*second, *c.of))};
}

answer is_within(const condition& c, double least, double most) {
  if (c.is == condition::kind::above) return above(least, most, c.limit);
  if (c.is == condition::kind::below) return below(least, most, c.limit);
  return most > 0 ? answer::refuted : answer::confirmed;  // never: one run is enough
}

judgement each_within(const condition& c, const evidence& e) {
  judgement j{answer::confirmed, ""};
  for (const std::string& label : c.labels) {
    const auto f = e.of(label, *c.of);
    if (!f) return missing(label);
    const answer met = is_within(c, f->least(), f->most());
    if (met == answer::refuted || j.is == answer::confirmed) j.is = met;
    add(j.because, ", ", fmt::format("{} {}", label, show(*f, *c.of)));
  }
  j.because = fmt::format("{}: {}", c.of->words, j.because);
  return j;
}

// Two hold: every run of each must be violated; if only some are, it depends. One holds: no run of
// any may be.
judgement holders(const condition& c, const evidence& e) {
  judgement j{answer::confirmed, ""};
  for (const std::string& label : c.labels) {
    const std::uint64_t violated = e.violated_runs(label);
    const std::uint64_t runs = e.runs(label);
    if (runs == 0) return missing(label);
    add(j.because, "; ", fmt::format("{}: violated in {} of {} runs", label, violated, runs));
    const bool wanted = c.is == condition::kind::two_hold ? violated > 0 : violated == 0;
    if (!wanted) j.is = answer::refuted;
    if (wanted && violated > 0 && violated < runs && j.is == answer::confirmed) {
      j.is = answer::depends;
    }
  }
  return j;
}

judgement recovery(const condition& c, const evidence& e) {
  const bool wanted = c.is == condition::kind::recovers;
  judgement j{answer::confirmed, ""};
  for (const std::string& label : c.labels) {
    const std::uint64_t runs = e.runs(label);
    const std::uint64_t never = e.never_recovered(label);
    if (runs == 0) return missing(label);
    if (never != (wanted ? 0 : runs)) j.is = answer::refuted;
    std::string text = fmt::format("{}: no grant any more in {} of {} runs", label, never, runs);
    const report::figure& recovery = report::known_figure("recovery");
    if (const auto took = never == 0 ? e.of(label, recovery) : std::nullopt) {
      text += fmt::format(", granted again after {}", show(*took, recovery));
    }
    add(j.because, "; ", text);
  }
  return j;
}

judgement judge_one(const condition& c, const evidence& e) {
  switch (c.is) {
    case condition::kind::falls: return falls(c, e);
    case condition::kind::steady: return is_steady(c, e);
    case condition::kind::above:
    case condition::kind::below:
    case condition::kind::never: return each_within(c, e);
    case condition::kind::two_hold:
    case condition::kind::one_holds: return holders(c, e);
    case condition::kind::recovers:
    case condition::kind::never_recovers: return recovery(c, e);
  }
  return {};
}

judgement judge_all(const std::vector<condition>& conditions, answer partly,
                    const evidence& found) {
  judgement all;
  std::vector<answer> each;
  for (const condition& c : conditions) {
    const judgement j = judge_one(c, found);
    add(all.because, "; ", j.because);
    each.push_back(j.is);
  }
  const auto any = [&](answer a) { return std::ranges::find(each, a) != each.end(); };
  all.is = any(answer::refuted)        ? any(answer::confirmed) ? partly : answer::refuted
           : any(answer::inconclusive) ? answer::inconclusive
           : any(answer::depends)      ? answer::depends
                                       : answer::confirmed;
  return all;
}

}  // namespace

std::string_view name_of(answer a) {
  switch (a) {
    case answer::confirmed: return "confirmed";
    case answer::refuted: return "refuted";
    case answer::depends: return "depends";
    case answer::inconclusive: return "inconclusive";
  }
  return "?";
}

judgement judge(const claim& what, const evidence& found) {
  judgement all = judge_all(what.true_if, what.partly, found);
  if (what.explained_if.empty()) return all;
  judgement why = judge_all(what.explained_if, answer::refuted, found);
  all.explained = why.is;
  all.explanation = std::move(why.because);
  return all;
}

}  // namespace lockmark::claims
