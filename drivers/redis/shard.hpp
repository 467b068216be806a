// Which of several deployments a key lives in.
#pragma once

#include <cstdint>
#include <string_view>

namespace lockmark::redis {

// FNV-1a of 64 bits, folded to spread short names, modulo the number of shards: the same on every
// machine. REQUIRES: shards > 0.
constexpr std::size_t shard_of(std::string_view key, std::size_t shards) {
  std::uint64_t hash = 14695981039346656037U;
  for (const char c : key) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 1099511628211U;
  }
  return static_cast<std::size_t>((hash ^ (hash >> 32)) % shards);
}

}  // namespace lockmark::redis
