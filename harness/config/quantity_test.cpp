#include "harness/config/quantity.hpp"

#include <gtest/gtest.h>

#include <random>

namespace lockmark::config {
namespace {

using namespace std::chrono_literals;

struct bad_text {
  const char* text;
  const char* sentence;
};

// Every unit, whole and with decimals.
TEST(duration_text, is_read_with_its_unit) {
  const std::pair<const char*, duration> cases[] = {
      {"250ms", 250ms},
      {"1s", 1s},
      {"1.5s", 1500ms},
      {"10us", 10us},
      {"2m", 2min},
      {"1h", 1h},
      {"0s", 0s},
      {"0ms", 0s},
      {"7ns", 7ns},
      {"0.5us", 500ns},
      {"1.50s", 1500ms},
      {"0.25h", 15min},
      {"8760h", longest_duration},
      {"1.000000001s", 1s + 1ns},
  };
  for (const auto& [text, value] : cases) {
    const auto read = parse_duration(text);
    ASSERT_TRUE(read) << text << ": " << read.error().sentence;
    EXPECT_EQ(*read, value) << text;
  }
}

TEST(duration_text, says_what_it_expected) {
  const std::string what =
      "expected a duration such as 250ms, 1.5s or 2m (units ns, us, ms, s, m, h)";
  const bad_text cases[] = {
      {"", ", not ''"},
      {"0", ", not '0', which has no unit"},
      {"30", ", not '30', which has no unit"},
      {"ms", ", not 'ms'"},
      {"-1s", ", not '-1s'"},
      {".5s", ", not '.5s'"},
      {"5.s", ", not '5.s'"},
      {"1.2.3s", ", not '1.2.3s', which has an unknown unit '.3s'"},
      {"5 ms", ", not '5 ms', which has an unknown unit ' ms'"},
      {"5sec", ", not '5sec', which has an unknown unit 'sec'"},
      {"5MS", ", not '5MS', which has an unknown unit 'MS'"},
      {"0.5ns", ", not '0.5ns', which is finer than a nanosecond"},
      {"8761h", ", not '8761h', which is longer than a year"},
      {"999999999999999999h", ", not '999999999999999999h', which is longer than a year"},
      {"9999999999999999999s", ", not '9999999999999999999s'"},
      {"1\ns", ", not '1?s', which has an unknown unit '?s'"},
  };
  for (const auto& [text, sentence] : cases) {
    const auto read = parse_duration(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().sentence, what + sentence);
  }
}

TEST(duration_text, is_printed_as_short_as_exact) {
  const std::pair<duration, const char*> cases[] = {
      {0s, "0s"},
      {1500ms, "1.5s"},
      {60s, "1m"},
      {90s, "90s"},
      {500ms, "500ms"},
      {3600s, "1h"},
      {90min, "90m"},
      {7ns, "7ns"},
      {1234567ns, "1234567ns"},
      {1s + 1ns, "1.000000001s"},
      {30s, "30s"},
      {5400001ms, "5400.001s"},
  };
  for (const auto& [value, text] : cases) EXPECT_EQ(print_duration(value), text);
}

// A printed value reads back the same, over all magnitudes.
TEST(duration_text, survives_the_round_trip) {
  std::mt19937_64 random{1};
  for (int i = 0; i < 10'000; ++i) {
    const auto ns = static_cast<std::int64_t>(random() >> (12 + i % 50));
    const duration value{ns % longest_duration.count()};
    EXPECT_EQ(*parse_duration(print_duration(value)), value);
  }
}

TEST(rate_text, is_exact_and_in_lowest_terms) {
  EXPECT_EQ(*parse_rate("200/s"), (rate{1, 5ms}));
  EXPECT_EQ(*parse_rate("1500/m"), (rate{1, 40ms}));
  EXPECT_EQ(*parse_rate("100/m"), (rate{1, 600ms}));
  EXPECT_EQ(*parse_rate("7/s"), (rate{7, 1s}));
  EXPECT_EQ(*parse_rate("0.5/h"), (rate{1, 2h}));
  EXPECT_EQ(*parse_rate("1000000000/s"), (rate{1, 1ns}));
  EXPECT_DOUBLE_EQ(parse_rate("1500/m")->per_second(), 25);
}

TEST(rate_text, survives_the_round_trip) {
  const char* shortest[] = {"200/s", "25/s", "100/m", "7/s",
                            "0.5/h", "30/m", "1/h",   "12345.678901/s"};
  for (const char* text : shortest) EXPECT_EQ(print_rate(*parse_rate(text)), text);
}

// The form per second would be as short, but has seven decimals, which cannot be read back.
TEST(rate_text, is_never_finer_than_what_is_read) {
  EXPECT_EQ(print_rate(*parse_rate("1010000000.01111/m")), "1010000000.01111/m");
}

TEST(rate_text, says_what_it_expected) {
  const std::string what = "expected a rate such as 200/s, 1500/m or 0.5/h, not ";
  const bad_text cases[] = {
      {"200", "'200', which does not say per what time"},
      {"200/d", "'200/d'"},
      {"200s", "'200s'"},
      {"/s", "'/s'"},
      {"0/s", "'0/s', which is not above zero"},
      {"-5/s", "'-5/s'"},
      {"1.1234567/s", "'1.1234567/s', which has more than six decimals"},
      {"1000000001/s", "'1000000001/s', which is above 1000000000/s"},
  };
  for (const auto& [text, sentence] : cases) {
    const auto read = parse_rate(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().sentence, what + sentence);
  }
}

TEST(count_text, is_digits_with_single_underscores) {
  EXPECT_EQ(*parse_count("0"), 0u);
  EXPECT_EQ(*parse_count("10000"), 10'000u);
  EXPECT_EQ(*parse_count("10_000"), 10'000u);
  EXPECT_EQ(*parse_count("18446744073709551615"), ~std::uint64_t{0});
  const char* bad[] = {"", "10k", "-1", "+1", "1.0", "_1", "1_", "1__0", " 1", "0x10", "1e3"};
  for (const char* text : bad) {
    const auto read = parse_count(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().sentence,
              "expected a whole number such as 10000 or 10_000, not '" + std::string{text} + "'");
  }
  EXPECT_EQ(parse_count("18446744073709551616").error().sentence,
            "expected a whole number such as 10000 or 10_000, not '18446744073709551616', which is "
            "above 18446744073709551615");
}

TEST(number_and_bool_text, are_strict) {
  EXPECT_EQ(*parse_number("0.99"), 0.99);
  EXPECT_EQ(print_number(0.99), "0.99");
  for (const char* text : {"", "nan", "inf", "1x", "1e999"})
    EXPECT_FALSE(parse_number(text)) << text;
  EXPECT_TRUE(*parse_bool("true"));
  EXPECT_FALSE(*parse_bool("false"));
  EXPECT_EQ(parse_bool("yes").error().sentence, "expected true or false, not 'yes'");
}

// Long user text is shown in part.
TEST(quoted_text, is_cut) {
  EXPECT_EQ(in_quotes(std::string(100, 'x')), "'" + std::string(60, 'x') + "...'");
}

}  // namespace
}  // namespace lockmark::config
