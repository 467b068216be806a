#include "harness/stats/hdr_encoding.hpp"

#include <gtest/gtest.h>

#include "harness/stats/random.hpp"

namespace lockmark::stats {
namespace {

histogram sample(int digits, int n) {
  random_source rng(11);
  histogram h(digits);
  for (int i = 0; i < n; ++i) h.record(static_cast<std::int64_t>(rng.lognormal(13, 2)));
  return h;
}

void expect_same_counts(const histogram& a, const histogram& b) {
  ASSERT_EQ(a.significant_digits(), b.significant_digits());
  EXPECT_EQ(a.count(), b.count());
  EXPECT_TRUE(std::equal(a.counts().begin(), a.counts().end(), b.counts().begin()));
}

// The example of RFC 4648 and every length of padding.
TEST(base64, is_that_of_the_rfc) {
  EXPECT_EQ(to_base64(""), "");
  EXPECT_EQ(to_base64("f"), "Zg==");
  EXPECT_EQ(to_base64("fo"), "Zm8=");
  EXPECT_EQ(to_base64("foo"), "Zm9v");
  EXPECT_EQ(to_base64("foobar"), "Zm9vYmFy");
  for (const char* text : {"", "f", "fo", "foo", "\xff\xfe\x80"}) {
    EXPECT_EQ(from_base64(to_base64(text)), text);
  }
  EXPECT_THROW(from_base64("Zg="), encoding_error);
  EXPECT_THROW(from_base64("Z!=="), encoding_error);
  EXPECT_THROW(from_base64("Z==="), encoding_error);
}

// The header and the zero runs, byte by byte: values 1, 2 and 200 are counters 1, 2 and 200.
TEST(hdr_encoding, writes_the_documented_bytes) {
  histogram h(3);
  h.record(1, 63);
  h.record(2, 64);
  h.record(200);
  const std::string bytes = encode_v2(h);
  const unsigned char expected[] = {0x1c, 0x84, 0x93, 0x13, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 3, 0,
                                    0, 0, 0, 0, 0, 0, 1, 0, 0, 3, 0x46, 0x30, 0xb8, 0xa0, 0x00,
                                    0x3f, 0xf0, 0, 0, 0, 0, 0, 0,
                                    // 0; 63; 64 in two bytes; -197 zeros in two; 1
                                    0, 0x7e, 0x80, 0x01, 0x89, 0x03, 2};
  EXPECT_EQ(bytes, std::string(reinterpret_cast<const char*>(expected), sizeof expected));
  EXPECT_EQ(encode_base64(h).substr(0, 8), "HISTFAAA");
}

// The largest numbers take nine bytes, the ninth with eight bits, and never a tenth.
TEST(hdr_encoding, writes_at_most_nine_bytes_a_number) {
  histogram h;
  h.record(0, std::int64_t{1} << 62);
  EXPECT_EQ(encode_v2(h).size(), 40u + 9u);
}

// Every form preserves the counters, at every number of digits, also when empty or at the ends.
TEST(hdr_encoding, gives_back_what_was_encoded) {
  for (int digits : {1, 2, 3, 4}) {
    histogram h = sample(digits, 5'000);
    h.record(0, 1'000'000'000'000);
    h.record(histogram::highest_ns, std::int64_t{1} << 62);  // fills all nine bytes
    expect_same_counts(decode_v2(encode_v2(h)), h);
    expect_same_counts(decode_compressed(encode_compressed(h)), h);
    expect_same_counts(decode_base64(encode_base64(h)), h);
    expect_same_counts(decode_base64(encode_base64(histogram(digits))), histogram(digits));
  }
}

// A decoded histogram knows minimum, maximum and mean to within its buckets.
TEST(hdr_encoding, keeps_statistics_within_a_bucket) {
  const histogram h = sample(3, 5'000);
  const histogram decoded = decode_base64(encode_base64(h));
  EXPECT_EQ(decoded.min_ns(), h.lowest_equivalent(h.min_ns()));
  EXPECT_EQ(decoded.max_ns(), h.highest_equivalent(h.max_ns()));
  EXPECT_NEAR(decoded.mean_ns() / h.mean_ns(), 1.0, 1e-4);
  EXPECT_EQ(decode_v2(encode_v2(decoded)), decoded);
}

// 200,000 samples over four orders of magnitude stay a few kilobytes.
TEST(hdr_encoding, is_small) {
  EXPECT_LT(encode_base64(sample(3, 200'000)).size(), 20'000u);
}

// No truncated or changed encoding is taken for a histogram with other counters.
TEST(hdr_encoding, refuses_damaged_bytes) {
  const histogram h = sample(2, 500);
  const std::string plain = encode_v2(h), packed = encode_compressed(h);
  for (std::size_t n = 0; n < plain.size(); ++n) {
    EXPECT_THROW(decode_v2(plain.substr(0, n)), encoding_error) << n;
  }
  for (std::size_t n = 0; n < packed.size(); ++n) {
    EXPECT_THROW(decode_compressed(packed.substr(0, n)), encoding_error) << n;
    std::string changed = packed;
    changed[n] = static_cast<char>(changed[n] ^ 0x55);
    EXPECT_THROW(decode_compressed(changed), encoding_error) << n;
  }
}

// A run of zeros beyond the last counter of the layout is invalid.
TEST(hdr_encoding, refuses_more_zeros_than_counters) {
  std::string bytes = encode_v2(histogram(1));
  bytes += "\xdf\x09";  // -624: all counters
  bytes[7] = 2;
  EXPECT_EQ(decode_v2(bytes).count(), 0);
  bytes[40] = '\xe1';  // -625
  EXPECT_THROW(decode_v2(bytes), encoding_error);
}

// Arbitrary counters after a valid header are refused or decoded, never out of bounds.
TEST(hdr_encoding, survives_arbitrary_counters) {
  random_source rng(5);
  const std::string empty = encode_v2(histogram(1));
  for (int run = 0; run < 2'000; ++run) {
    std::string bytes = empty;
    const std::size_t n = rng.below(40);
    for (std::size_t i = 0; i < n; ++i) bytes.push_back(static_cast<char>(rng.below(256)));
    bytes[7] = static_cast<char>(n);
    try {
      EXPECT_GE(decode_v2(bytes).count(), 0);
    } catch (const encoding_error&) {
    }
  }
}

}  // namespace
}  // namespace lockmark::stats
