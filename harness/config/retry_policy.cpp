#include "harness/config/retry_policy.hpp"

#include <fmt/format.h>

#include "harness/config/call.hpp"
#include "harness/config/quantity.hpp"

namespace lockmark::config {
namespace {

// A zero pause must be written as spin, so that no client spins by accident.
parsed<duration> parse_pause(std::string_view text) {
  const auto pause = parse_duration(text);
  if (pause && *pause == duration::zero()) {
    return expected("a pause above zero (or the policy spin)", text);
  }
  return pause;
}

parsed<retry_policy> parse_range(retry_policy::shape kind, const call& split,
                                 std::string_view text) {
  const auto least = parse_duration(split.arguments[0]);
  if (!least) return least.error();
  const auto greatest = parse_pause(split.arguments[1]);
  if (!greatest) return greatest.error();
  if (*least > *greatest) {
    return expected("the shorter pause before the longer", text, "is the wrong way round");
  }
  if (kind == retry_policy::shape::exponential && *least == duration::zero()) {
    return expected("a first pause above zero", text, "would stay at zero when doubled");
  }
  return retry_policy{kind, *least, *greatest};
}

}  // namespace

parsed<retry_policy> parse_retry_policy(std::string_view text) {
  const auto split = split_call(text);
  if (!split) return expected(retry_policy::forms, text);
  if (split->is("none", 0)) return retry_policy{};
  if (split->is("spin", 0)) return retry_policy{.kind = retry_policy::shape::spin};
  if (split->is("jittered", 2)) return parse_range(retry_policy::shape::jittered, *split, text);
  if (split->is("exponential", 2))
    return parse_range(retry_policy::shape::exponential, *split, text);
  if (!split->is("fixed", 1)) return expected(retry_policy::forms, text);
  const auto pause = parse_pause(split->arguments[0]);
  if (!pause) return pause.error();
  return retry_policy{retry_policy::shape::fixed, *pause, {}};
}

std::string print_retry_policy(const retry_policy& value) {
  const std::string least = print_duration(value.least);
  const std::string greatest = print_duration(value.greatest);
  switch (value.kind) {
    case retry_policy::shape::none: break;
    case retry_policy::shape::spin: return "spin";
    case retry_policy::shape::fixed: return fmt::format("fixed({})", least);
    case retry_policy::shape::jittered: return fmt::format("jittered({}, {})", least, greatest);
    case retry_policy::shape::exponential:
      return fmt::format("exponential({}, {})", least, greatest);
  }
  return "none";
}

}  // namespace lockmark::config
