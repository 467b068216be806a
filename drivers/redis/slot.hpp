// Which of Redis Cluster's 16384 slots a key is in. Source: the Redis Cluster specification.
#pragma once

#include <cstdint>
#include <string_view>

namespace lockmark::redis {

inline constexpr std::uint16_t slot_count = 16384;

// CRC-16/XMODEM: polynomial 0x1021, from 0, not reflected.
std::uint16_t crc16(std::string_view bytes);

// The part of the key that is hashed: what stands between the first '{' and the first '}' after it,
// or the whole key where that is nothing.
std::string_view hashed_part(std::string_view key);

// Below slot_count.
std::uint16_t slot_of(std::string_view key);

}  // namespace lockmark::redis
