// The place of a key: one of Redis Cluster's 16384 slots, or one of several deployments that know
// nothing of each other. Source of the slots: the Redis Cluster specification.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lockmark::redis {

inline constexpr std::uint16_t slot_count = 16384;

// CRC-16/XMODEM: polynomial 0x1021, from 0, not reflected.
constexpr std::array<std::uint16_t, 256> crc16_table() {
  std::array<std::uint16_t, 256> table{};
  for (unsigned byte = 0; byte < table.size(); ++byte) {
    unsigned crc = byte << 8;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 0x8000) != 0 ? (crc << 1) ^ 0x1021 : crc << 1;
    table[byte] = static_cast<std::uint16_t>(crc);
  }
  return table;
}
inline std::uint16_t crc16(std::string_view bytes) {
  static constexpr auto table = crc16_table();
  unsigned crc = 0;
  for (const char c : bytes) {
    crc = (crc << 8) ^ table[((crc >> 8) ^ static_cast<unsigned char>(c)) & 0xff];
    crc &= 0xffff;
  }
  return static_cast<std::uint16_t>(crc);
}

// The part of the key that is hashed: the text between the first '{' and the first '}' after it;
// the whole key if that is empty or missing.
inline std::string_view hashed_part(std::string_view key) {
  const auto open = key.find('{');
  if (open == key.npos) return key;
  const auto close = key.find('}', open + 1);
  if (close == key.npos || close == open + 1) return key;
  return key.substr(open + 1, close - open - 1);
}

// Below slot_count.
inline std::uint16_t slot_of(std::string_view key) {
  return crc16(hashed_part(key)) % slot_count;
}

// FNV-1a of 64 bits, folded to spread short names, modulo the number of deployments: the same on
// every machine. REQUIRES: shards > 0.
constexpr std::size_t shard_of(std::string_view key, std::size_t shards) {
  std::uint64_t hash = 14695981039346656037U;
  for (const char c : key) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 1099511628211U;
  }
  return static_cast<std::size_t>((hash ^ (hash >> 32)) % shards);
}

}  // namespace lockmark::redis
