#include "harness/config/key_choice.hpp"

#include <fmt/format.h>

#include "harness/config/call.hpp"
#include "harness/config/quantity.hpp"

namespace lockmark::config {
namespace {

parsed<std::uint64_t> parse_keys(std::string_view text) {
  const auto keys = parse_count(text);
  if (!keys) return keys.error();
  if (*keys < 1 || *keys > key_choice::most_keys) {
    return expected(fmt::format("1 to {} keys", key_choice::most_keys), text);
  }
  return keys;
}

parsed<double> parse_fraction(std::string_view text) {
  const auto fraction = parse_number(text);
  if (!fraction) return fraction.error();
  if (*fraction < 0 || *fraction > 1) return expected("a fraction from 0 to 1", text);
  return fraction;
}

parsed<key_choice> parse_zipf(const call& split, std::uint64_t keys) {
  const auto exponent = parse_number(split.arguments[1]);
  if (!exponent) return exponent.error();
  if (*exponent <= 0 || *exponent > 10) {
    return expected("an exponent above 0 and at most 10", split.arguments[1]);
  }
  return key_choice{key_choice::shape::zipf, keys, *exponent, 0, 0};
}

parsed<key_choice> parse_hotspot(const call& split, std::uint64_t keys) {
  const auto hot_keys = parse_fraction(split.arguments[1]);
  if (!hot_keys) return hot_keys.error();
  const auto hot_share = parse_fraction(split.arguments[2]);
  if (!hot_share) return hot_share.error();
  return key_choice{key_choice::shape::hotspot, keys, 0, *hot_keys, *hot_share};
}

// At least one key is hot; otherwise the hot share of the attempts would have no key.
std::uint64_t hot_count(const key_choice& choice, std::uint64_t keys) {
  const double hot = std::round(choice.hot_keys * static_cast<double>(keys));
  return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(hot), 1, keys);
}

}  // namespace

parsed<key_choice> parse_key_choice(std::string_view text) {
  const auto split = split_call(text);
  if (!split) return expected(key_choice::forms, text);
  if (split->is("one", 0)) return key_choice{};
  if (split->is("own", 0)) return key_choice{.kind = key_choice::shape::own};
  const bool is_zipf = split->is("zipf", 2);
  const bool is_hotspot = split->is("hotspot", 3);
  if (!is_zipf && !is_hotspot && !split->is("uniform", 1)) return expected(key_choice::forms, text);
  const auto keys = parse_keys(split->arguments[0]);
  if (!keys) return keys.error();
  if (is_zipf) return parse_zipf(*split, *keys);
  if (is_hotspot) return parse_hotspot(*split, *keys);
  return key_choice{key_choice::shape::uniform, *keys, 0, 0, 0};
}

std::string print_key_choice(const key_choice& value) {
  switch (value.kind) {
    case key_choice::shape::one: break;
    case key_choice::shape::own: return "own";
    case key_choice::shape::uniform: return fmt::format("uniform({})", value.keys);
    case key_choice::shape::zipf: return fmt::format("zipf({}, {})", value.keys, value.exponent);
    case key_choice::shape::hotspot:
      return fmt::format("hotspot({}, {}, {})", value.keys, value.hot_keys, value.hot_share);
  }
  return "one";
}

zipf_sampler::zipf_sampler(std::uint64_t n, double exponent)
    : exponent_(exponent),
      last_(static_cast<double>(n)),
      area_first_(area_below(1.5) - 1.0),
      area_last_(area_below(last_ + 0.5)),
      sure_(2.0 - inverse_area(area_below(2.5) - weight(2.0))) {}

double zipf_sampler::weight(double x) const {
  return std::exp(-exponent_ * std::log(x));
}

// expm1 and log1p keep the digits that (x^(1-s) - 1) / (1-s) loses near s = 1, where the integral
// is the logarithm.
double zipf_sampler::area_below(double x) const {
  const double power = (1.0 - exponent_) * std::log(x);
  return power == 0 ? std::log(x) : std::expm1(power) / (1.0 - exponent_);
}

double zipf_sampler::inverse_area(double area) const {
  const double grown = (1.0 - exponent_) * area;
  // Rounding may step outside the domain of the logarithm, next to x = 0.
  if (grown <= -1.0) return 0.0;
  return grown == 0 ? std::exp(area) : std::exp(std::log1p(grown) / (1.0 - exponent_));
}

key_sampler::key_sampler(const key_choice& choice, std::uint64_t clients)
    : choice_(choice),
      keys_(choice.count(clients)),
      hot_(hot_count(choice, keys_)),
      zipf_(keys_, choice.kind == key_choice::shape::zipf ? choice.exponent : 1.0) {}

}  // namespace lockmark::config
