#include "harness/stats/hdr_encoding.hpp"

#include <fmt/core.h>
#include <zlib.h>

#include <array>
#include <bit>
#include <cstring>

namespace lockmark::stats {
namespace {

// HdrHistogram's base cookies, with the word size nibble that V2 encoders set to 1.
constexpr std::uint32_t plain_cookie = 0x1c849303 | 0x10;
constexpr std::uint32_t compressed_cookie = 0x1c849304 | 0x10;
constexpr std::size_t header_size = 40;
constexpr std::size_t compressed_header_size = 8;
// More than any histogram of 4 digits can need: a longer stream is not one of ours.
constexpr std::size_t largest_plain_size = 5'000'000;

template <typename unsigned_int>
void put_big_endian(std::string& out, unsigned_int value) {
  for (int shift = sizeof(value) * 8 - 8; shift >= 0; shift -= 8) {
    out.push_back(static_cast<char>(static_cast<unsigned char>(value >> shift)));
  }
}

// Reads from the front of a view; a read beyond the end is an encoding_error.
class byte_reader {
 public:
  explicit byte_reader(std::string_view bytes) : rest_(bytes) {}

  bool empty() const { return rest_.empty(); }
  std::size_t size() const { return rest_.size(); }
  std::string_view rest() const { return rest_; }

  std::uint8_t byte() {
    if (rest_.empty()) throw encoding_error("an encoded histogram ends in the middle of a number");
    const auto value = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return value;
  }

  template <typename unsigned_int>
  unsigned_int big_endian() {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(unsigned_int); ++i) value = value << 8 | byte();
    return static_cast<unsigned_int>(value);
  }

  // LEB128 of at most 9 bytes: the ninth holds eight bits, so it never continues.
  std::int64_t zigzag() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 56; shift += 7) {
      const std::uint64_t next = byte();
      value |= (next & 0x7f) << shift;
      if (next < 0x80) return un_zigzag(value);
    }
    return un_zigzag(value | static_cast<std::uint64_t>(byte()) << 56);
  }

 private:
  static std::int64_t un_zigzag(std::uint64_t value) {
    return static_cast<std::int64_t>((value >> 1) ^ (0 - (value & 1)));
  }

  std::string_view rest_;
};

void put_zigzag(std::string& out, std::int64_t signed_value) {
  auto value = static_cast<std::uint64_t>(signed_value) << 1 ^
               static_cast<std::uint64_t>(signed_value >> 63);
  for (int i = 0; i < 8 && value >= 0x80; ++i, value >>= 7) {
    out.push_back(static_cast<char>(static_cast<unsigned char>(value | 0x80)));
  }
  out.push_back(static_cast<char>(static_cast<unsigned char>(value)));
}

std::string counts_payload(const histogram& source) {
  std::string payload;
  const auto counts = source.counts().first(source.used_counts());
  for (std::size_t i = 0; i < counts.size();) {
    if (counts[i] != 0) {
      put_zigzag(payload, counts[i++]);
      continue;
    }
    const std::size_t run_start = i;
    while (counts[i] == 0) ++i;  // ends: the last counter in use is not zero
    const auto zeros = static_cast<std::int64_t>(i - run_start);
    put_zigzag(payload, zeros == 1 ? 0 : -zeros);
  }
  return payload;
}

void decode_counts(byte_reader& in, histogram& target) {
  std::size_t index = 0;
  while (!in.empty()) {
    const std::int64_t value = in.zigzag();
    if (value < 0) {
      const std::uint64_t zeros = 0 - static_cast<std::uint64_t>(value);
      if (zeros > target.counts().size() - index) {
        throw encoding_error("an encoded histogram has more counters than its layout");
      }
      index += zeros;
      continue;
    }
    std::int64_t total = 0;
    if (index >= target.counts().size() || __builtin_add_overflow(target.count(), value, &total)) {
      throw encoding_error("an encoded histogram has more counters or counts than fit");
    }
    target.add_at_index(index++, value);
  }
}

std::string inflate_all(std::string_view bytes) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) throw encoding_error("zlib cannot start to decompress");
  std::string buffer(bytes);  // zlib wants a pointer to non-const
  stream.next_in = reinterpret_cast<Bytef*>(buffer.data());
  stream.avail_in = static_cast<uInt>(buffer.size());
  std::string result;
  std::array<char, 16'384> chunk;
  int status = Z_OK;
  while (status == Z_OK && result.size() <= largest_plain_size) {
    stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_out = static_cast<uInt>(chunk.size());
    status = inflate(&stream, Z_NO_FLUSH);
    result.append(chunk.data(), chunk.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END) {
    throw encoding_error("an encoded histogram is cut short or damaged inside its zlib stream");
  }
  return result;
}

constexpr std::string_view base64_digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<std::int8_t, 256> make_base64_values() {
  std::array<std::int8_t, 256> values{};
  values.fill(-1);
  for (std::size_t i = 0; i < base64_digits.size(); ++i) {
    values[static_cast<unsigned char>(base64_digits[i])] = static_cast<std::int8_t>(i);
  }
  return values;
}

}  // namespace

std::string encode_v2(const histogram& source) {
  const std::string payload = counts_payload(source);
  std::string out;
  out.reserve(header_size + payload.size());
  put_big_endian(out, plain_cookie);
  put_big_endian(out, static_cast<std::uint32_t>(payload.size()));
  put_big_endian(out, std::uint32_t{0});
  put_big_endian(out, static_cast<std::uint32_t>(source.significant_digits()));
  put_big_endian(out, static_cast<std::uint64_t>(histogram::lowest_ns));
  put_big_endian(out, static_cast<std::uint64_t>(histogram::highest_ns));
  put_big_endian(out, std::bit_cast<std::uint64_t>(1.0));
  return out += payload;
}

std::string encode_compressed(const histogram& source) {
  const std::string plain = encode_v2(source);
  uLongf size = compressBound(static_cast<uLong>(plain.size()));
  std::string packed(size, '\0');
  if (compress(reinterpret_cast<Bytef*>(packed.data()), &size,
               reinterpret_cast<const Bytef*>(plain.data()),
               static_cast<uLong>(plain.size())) != Z_OK) {
    throw encoding_error("zlib cannot compress a histogram: out of memory");
  }
  std::string out;
  put_big_endian(out, compressed_cookie);
  put_big_endian(out, static_cast<std::uint32_t>(size));
  return out.append(packed, 0, size);
}

std::string encode_base64(const histogram& source) {
  return to_base64(encode_compressed(source));
}

histogram decode_v2(std::string_view bytes) {
  byte_reader in(bytes);
  if (bytes.size() < header_size || in.big_endian<std::uint32_t>() != plain_cookie) {
    throw encoding_error("these bytes do not start as a V2 histogram does");
  }
  const auto payload_size = in.big_endian<std::uint32_t>();
  const auto index_offset = in.big_endian<std::uint32_t>();
  const auto digits = in.big_endian<std::uint32_t>();
  const auto lowest = in.big_endian<std::uint64_t>();
  const auto highest = in.big_endian<std::uint64_t>();
  const auto ratio = std::bit_cast<double>(in.big_endian<std::uint64_t>());
  if (payload_size != in.size()) {
    throw encoding_error(fmt::format("an encoded histogram has {} bytes of counters instead of {}",
                                     in.size(), payload_size));
  }
  if (index_offset != 0 || ratio != 1.0 || digits < 1 || digits > 4 ||
      lowest != static_cast<std::uint64_t>(histogram::lowest_ns) ||
      highest != static_cast<std::uint64_t>(histogram::highest_ns)) {
    throw encoding_error(fmt::format(
        "an encoded histogram covers {} to {} with {} digits; expected 1 ns to 1 h in nanoseconds",
        lowest, highest, digits));
  }
  histogram result(static_cast<int>(digits));
  decode_counts(in, result);
  return result;
}

histogram decode_compressed(std::string_view bytes) {
  byte_reader in(bytes);
  if (bytes.size() < compressed_header_size ||
      in.big_endian<std::uint32_t>() != compressed_cookie) {
    throw encoding_error("these bytes do not start as a compressed V2 histogram does");
  }
  const auto size = in.big_endian<std::uint32_t>();
  if (size != in.size()) {
    throw encoding_error(fmt::format(
        "a compressed histogram has {} bytes instead of {}: cut short?", in.size(), size));
  }
  return decode_v2(inflate_all(in.rest()));
}

histogram decode_base64(std::string_view text) {
  return decode_compressed(from_base64(text));
}

std::string to_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t present = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8 | (k < present ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text.push_back(k <= present ? base64_digits[group >> (18 - 6 * k) & 63] : '=');
    }
  }
  return text;
}

std::string from_base64(std::string_view text) {
  static constexpr std::array<std::int8_t, 256> values = make_base64_values();
  if (text.size() % 4 != 0) {
    throw encoding_error(fmt::format(
        "a Base64 text of {} characters is cut short: not a multiple of 4", text.size()));
  }
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t group = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool padded = i >= text.size() - padding;
    const std::int8_t value = padded ? std::int8_t{0} : values[static_cast<unsigned char>(text[i])];
    if (value < 0) throw encoding_error(fmt::format("not a Base64 character at place {}", i));
    group = group << 6 | static_cast<std::uint32_t>(value);
    if (i % 4 == 3) {
      for (int shift : {16, 8, 0}) {
        bytes.push_back(static_cast<char>(static_cast<unsigned char>(group >> shift)));
      }
      group = 0;
    }
  }
  bytes.resize(bytes.size() - padding);
  return bytes;
}

}  // namespace lockmark::stats
