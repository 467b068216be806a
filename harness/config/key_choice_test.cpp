#include "harness/config/key_choice.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "harness/config/test_random.hpp"

namespace lockmark::config {
namespace {

constexpr std::size_t draws = 200'000;

std::vector<double> shares(const char* text, std::uint64_t clients) {
  const key_choice choice = *parse_key_choice(text);
  const key_sampler sampler{choice, clients};
  test_random random{5};
  std::vector<double> drawn(choice.count(clients));
  for (std::size_t i = 0; i < draws; ++i) drawn.at(sampler(random, i % clients)) += 1.0 / draws;
  return drawn;
}

TEST(key_choice, survives_the_round_trip) {
  for (const char* text :
       {"one", "own", "uniform(100)", "zipf(1000, 0.99)", "hotspot(1000, 0.1, 0.9)"}) {
    const auto read = parse_key_choice(text);
    ASSERT_TRUE(read) << text << ": " << read.error().sentence;
    EXPECT_EQ(print_key_choice(*read), text);
  }
}

TEST(key_choice, says_what_it_expected) {
  const std::string known =
      "expected one, own, uniform(KEYS), zipf(KEYS, EXPONENT) or "
      "hotspot(KEYS, HOT_KEYS, HOT_SHARE), not ";
  const std::pair<const char*, std::string> cases[] = {
      {"", known + "''"},
      {"two", known + "'two'"},
      {"one(1)", known + "'one(1)'"},
      {"zipf(1000)", known + "'zipf(1000)'"},
      {"uniform(", known + "'uniform('"},
      {"uniform(0)", "expected 1 to 100000000 keys, not '0'"},
      {"uniform(100000001)", "expected 1 to 100000000 keys, not '100000001'"},
      {"uniform(10k)", "expected a whole number such as 10000 or 10_000, not '10k'"},
      {"zipf(10, 0)", "expected an exponent above 0 and at most 10, not '0'"},
      {"zipf(10, x)", "expected a number such as 0.5, not 'x'"},
      {"hotspot(10, 1.5, 0.5)", "expected a fraction from 0 to 1, not '1.5'"},
      {"hotspot(10, 0.5, -1)", "expected a fraction from 0 to 1, not '-1'"},
  };
  for (const auto& [text, sentence] : cases) {
    const auto read = parse_key_choice(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().sentence, sentence);
  }
}

TEST(key_choice, counts_its_keys) {
  EXPECT_EQ(parse_key_choice("one")->count(16), 1u);
  EXPECT_EQ(parse_key_choice("own")->count(16), 16u);
  EXPECT_EQ(parse_key_choice("zipf(1000, 0.99)")->count(16), 1000u);
}

TEST(key_choice, own_is_the_clients_number) {
  const key_sampler sampler{*parse_key_choice("own"), 8};
  stuck_random random;
  for (std::uint64_t client = 0; client < 8; ++client) EXPECT_EQ(sampler(random, client), client);
}

TEST(key_choice, uniform_is_even) {
  for (const double share : shares("uniform(10)", 4)) EXPECT_NEAR(share, 0.1, 0.005);
}

// Every rank gets its share, for exponents below, at and above 1.
TEST(key_choice, zipf_has_the_right_shares) {
  for (const double exponent : {0.2, 0.99, 1.0, 1.5, 4.0}) {
    const std::string text = "zipf(50, " + std::to_string(exponent) + ")";
    const auto drawn = shares(text.c_str(), 1);
    double whole = 0;
    for (int rank = 1; rank <= 50; ++rank) whole += std::pow(rank, -exponent);
    for (int rank = 1; rank <= 50; ++rank) {
      const double p = std::pow(rank, -exponent) / whole;
      // Two more draws, because a rare rank is Poisson rather than normal.
      const double five_sigma = 5 * std::sqrt(p * (1 - p) / draws) + 2.0 / draws;
      EXPECT_NEAR(drawn[static_cast<std::size_t>(rank - 1)], p, five_sigma) << text << " #" << rank;
    }
  }
}

// The ends of the generator's range and extreme sizes give valid keys.
TEST(key_choice, samples_stay_in_range) {
  for (const char* text :
       {"uniform(1)", "uniform(100000000)", "zipf(1, 0.99)", "zipf(2, 10)", "zipf(100000000, 0.5)",
        "zipf(100000000, 10)", "hotspot(3, 0, 0.5)", "hotspot(3, 1, 0.5)"}) {
    const key_choice choice = *parse_key_choice(text);
    const key_sampler sampler{choice, 1};
    test_random random{3};
    for (int i = 0; i < 1000; ++i) ASSERT_LT(sampler(random, 0), choice.keys) << text;
    stuck_random low{.uniform = 0};
    ASSERT_LT(sampler(low, 0), choice.keys) << text;
    stuck_random high{.uniform = 1 - 0x1.0p-53};
    ASSERT_LT(sampler(high, 0), choice.keys) << text;
  }
}

// 10 % of the keys get 90 % of the attempts, evenly within each part.
TEST(key_choice, hotspot_has_the_right_shares) {
  const auto drawn = shares("hotspot(100, 0.1, 0.9)", 1);
  EXPECT_NEAR(std::accumulate(drawn.begin(), drawn.begin() + 10, 0.0), 0.9, 0.005);
  EXPECT_NEAR(drawn[0], 0.09, 0.005);
  EXPECT_NEAR(drawn[99], 0.1 / 90, 0.0005);
}

}  // namespace
}  // namespace lockmark::config
