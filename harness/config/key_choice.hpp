// The choice of the key that an attempt wants: as text, as value, and as a sampler of key numbers.
//
//   one                      all clients want the same key
//   own                      every client has its own key
//   uniform(100)             100 keys, equally likely
//   zipf(1000, 0.99)         1000 keys; key i (from 1) is wanted in proportion to 1 / i^0.99
//   hotspot(1000, 0.1, 0.9)  1000 keys, of which the first 10 % get 90 % of the attempts
//
// Key numbers count from 0; the mapping from number to name is not decided here.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "harness/config/generator.hpp"
#include "harness/config/parsed.hpp"

namespace lockmark::config {

struct key_choice {
  enum class shape { one, own, uniform, zipf, hotspot };

  // The accepted forms, for errors and help.
  static constexpr std::string_view forms =
      "one, own, uniform(KEYS), zipf(KEYS, EXPONENT) or hotspot(KEYS, HOT_KEYS, HOT_SHARE)";

  shape kind = shape::one;
  std::uint64_t keys = 1;  // uniform, zipf, hotspot: 1 to most_keys; otherwise 1
  double exponent = 0;     // zipf: above 0, at most 10
  double hot_keys = 0;     // hotspot: fraction of keys that are hot, 0 to 1
  double hot_share = 0;    // hotspot: fraction of attempts that want a hot key, 0 to 1

  static constexpr std::uint64_t most_keys = 100'000'000;

  // Number of keys, given the number of clients of the whole job.
  std::uint64_t count(std::uint64_t clients) const { return kind == shape::own ? clients : keys; }

  bool operator==(const key_choice&) const = default;
};

parsed<key_choice> parse_key_choice(std::string_view text);
std::string print_key_choice(const key_choice& value);

// Ranks 0..n-1 with probability in proportion to 1 / (rank + 1)^exponent, in constant memory and
// constant expected time: rejection-inversion by W. Hormann and G. Derflinger, "Rejection-inversion
// to generate variates from monotone discrete distributions", ACM TOMACS 6(3), 1996.
// REQUIRES n >= 1, exponent > 0. Immutable: threads may share one.
class zipf_sampler {
 public:
  zipf_sampler(std::uint64_t n, double exponent);

  template <generator G>
  std::uint64_t operator()(G& random) const {
    for (;;) {
      const double area = area_last_ + random.uniform01() * (area_first_ - area_last_);
      const double x = inverse_area(area);
      const double rank = std::clamp(std::floor(x + 0.5), 1.0, last_);
      // The first test saves most samples the two powers of the second.
      if (rank - x <= sure_ || area >= area_below(rank + 0.5) - weight(rank)) {
        return static_cast<std::uint64_t>(rank) - 1;
      }
    }
  }

 private:
  double weight(double x) const;      // x^-exponent
  double area_below(double x) const;  // integral of weight from 1 to x
  double inverse_area(double area) const;

  double exponent_;
  double last_;
  double area_first_;
  double area_last_;
  double sure_;
};

// Draws keys for one job. Immutable: threads may share one.
class key_sampler {
 public:
  // `clients` counts those of the whole job. REQUIRES: clients >= 1.
  key_sampler(const key_choice& choice, std::uint64_t clients);

  // A key below choice.count(clients), for client number `client` (0 to clients - 1).
  template <generator G>
  std::uint64_t operator()(G& random, std::uint64_t client) const;

 private:
  template <generator G>
  static std::uint64_t below(G& random, std::uint64_t n) {
    const auto drawn = static_cast<std::uint64_t>(random.uniform01() * static_cast<double>(n));
    return std::min(drawn, n - 1);  // uniform01() just under 1 may round up to n
  }

  key_choice choice_;
  std::uint64_t keys_;
  std::uint64_t hot_;
  zipf_sampler zipf_;
};

template <generator G>
std::uint64_t key_sampler::operator()(G& random, std::uint64_t client) const {
  switch (choice_.kind) {
    case key_choice::shape::one: return 0;
    case key_choice::shape::own: return client;
    case key_choice::shape::uniform: return below(random, keys_);
    case key_choice::shape::zipf: return zipf_(random);
    case key_choice::shape::hotspot: break;
  }
  if (hot_ == keys_ || random.uniform01() < choice_.hot_share) return below(random, hot_);
  return hot_ + below(random, keys_ - hot_);
}

}  // namespace lockmark::config
