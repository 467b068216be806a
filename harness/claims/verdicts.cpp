#include "harness/claims/verdicts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/report/text.hpp"

namespace lockmark::claims {
namespace {

std::string one(double value, unit u) {
  switch (u) {
    case unit::per_second: return fmt::format("{}/s", report::rate_text(value));
    case unit::nanoseconds: return report::duration_text(static_cast<std::int64_t>(value));
    case unit::share: return report::share_text(value);
    case unit::plain: return fmt::format("{:.3g}", value);
  }
  return "?";
}

std::string counted(const evidence& e, std::string_view label) {
  return fmt::format("{}: violated in {} of {} runs", label, e.violated_runs(label), e.runs(label));
}

}  // namespace

std::string show(const figure& f, unit u) {
  if (f.values.size() == 1) return one(f.median(), u);
  return fmt::format("{} ({} to {})", one(f.median(), u), one(f.least(), u), one(f.most(), u));
}

judgement missing(std::string_view label) {
  return {answer::inconclusive, fmt::format("{} gave no complete run with this figure", label)};
}

judgement falls(const evidence& e, std::initializer_list<std::string_view> labels,
                const std::string& pointer, unit u) {
  judgement j{answer::confirmed, ""};
  std::optional<figure> before;
  for (const std::string_view label : labels) {
    const auto now = e.of(label, pointer);
    if (!now) return missing(label);
    j.because += fmt::format("{}{} {}", j.because.empty() ? "" : ", ", label, show(*now, u));
    if (before) {
      const order o = compare(*before, *now);
      if (o == order::below) j.is = answer::refuted;
      if (o == order::unclear && j.is == answer::confirmed) j.is = answer::inconclusive;
    }
    before = now;
  }
  return j;
}

judgement breaks(const evidence& e, std::initializer_list<std::string_view> violated,
                 std::initializer_list<std::string_view> safe) {
  judgement j{answer::confirmed, ""};
  const auto say = [&](std::string_view label) {
    j.because += fmt::format("{}{}", j.because.empty() ? "" : "; ", counted(e, label));
  };
  for (const std::string_view label : violated) {
    if (e.runs(label) == 0) return missing(label);
    say(label);
    if (e.violated_runs(label) == 0) j.is = answer::refuted;
    if (e.violated_runs(label) < e.runs(label) && j.is == answer::confirmed) {
      j.is = answer::depends;
    }
  }
  for (const std::string_view label : safe) {
    if (e.runs(label) == 0) return missing(label);
    say(label);
    if (e.violated_runs(label) > 0) j.is = answer::refuted;
  }
  return j;
}

judgement both(const judgement& a, const judgement& b) {
  judgement j;
  j.because = fmt::format("{}; {}", a.because, b.because);
  j.is = a.is == b.is ? a.is : answer::depends;
  if (a.is == answer::inconclusive || b.is == answer::inconclusive) j.is = answer::inconclusive;
  if (a.is == answer::refuted || b.is == answer::refuted) j.is = answer::refuted;
  return j;
}

experiment hurt(std::string label, const std::string& scenario, std::string lock,
                std::string topology, std::vector<std::string> set) {
  return {std::move(label),    fmt::format("faults/{}", scenario),
          std::move(topology), std::move(lock),
          std::move(set),      ""};
}

}  // namespace lockmark::claims
