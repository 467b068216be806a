#include "harness/config/distribution.hpp"

#include <fmt/format.h>

#include "harness/config/call.hpp"
#include "harness/config/quantity.hpp"

namespace lockmark::config {
namespace {

parsed<distribution> parse_lognormal(const call& split, std::string_view text) {
  const auto median = parse_duration(split.arguments[0]);
  if (!median) return median.error();
  const auto sigma = parse_number(split.arguments[1]);
  if (!sigma) return sigma.error();
  if (*sigma <= 0 || *sigma > 5) return expected("a sigma above 0 and at most 5", text);
  return distribution{distribution::shape::lognormal, *median, {}, *sigma};
}

parsed<distribution> parse_uniform(const call& split, std::string_view text) {
  const auto least = parse_duration(split.arguments[0]);
  if (!least) return least.error();
  const auto greatest = parse_duration(split.arguments[1]);
  if (!greatest) return greatest.error();
  if (*least > *greatest)
    return expected("uniform(LEAST, GREATEST)", text, "is the wrong way round");
  return distribution{distribution::shape::uniform, *least, *greatest, 0};
}

}  // namespace

parsed<distribution> parse_distribution(std::string_view text) {
  const auto split = split_call(text);
  if (!split) return expected(distribution::forms, text);
  if (split->is("uniform", 2)) return parse_uniform(*split, text);
  if (split->is("lognormal", 2)) return parse_lognormal(*split, text);
  if (split->is("exponential", 1)) {
    const auto mean = parse_duration(split->arguments[0]);
    if (!mean) return mean.error();
    return distribution{distribution::shape::exponential, *mean, {}, 0};
  }
  const auto constant = parse_duration(text);
  if (constant) return distribution{distribution::shape::constant, *constant, {}, 0};
  const bool number = !text.empty() && text.front() >= '0' && text.front() <= '9';
  return number ? constant.error() : expected(distribution::forms, text);
}

std::string print_distribution(const distribution& value) {
  const std::string first = print_duration(value.first);
  switch (value.kind) {
    case distribution::shape::constant: break;
    case distribution::shape::exponential: return fmt::format("exponential({})", first);
    case distribution::shape::uniform:
      return fmt::format("uniform({}, {})", first, print_duration(value.second));
    case distribution::shape::lognormal:
      return fmt::format("lognormal({}, {})", first, print_number(value.sigma));
  }
  return first;
}

}  // namespace lockmark::config
