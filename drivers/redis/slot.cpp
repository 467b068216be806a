#include "drivers/redis/slot.hpp"

#include <array>

namespace lockmark::redis {
namespace {

constexpr std::array<std::uint16_t, 256> make_table() {
  std::array<std::uint16_t, 256> table{};
  for (unsigned byte = 0; byte < table.size(); ++byte) {
    unsigned crc = byte << 8;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 0x8000) != 0 ? (crc << 1) ^ 0x1021 : crc << 1;
    table[byte] = static_cast<std::uint16_t>(crc);
  }
  return table;
}

constexpr auto table = make_table();

}  // namespace

std::uint16_t crc16(std::string_view bytes) {
  unsigned crc = 0;
  for (const char c : bytes) {
    crc = (crc << 8) ^ table[((crc >> 8) ^ static_cast<unsigned char>(c)) & 0xff];
    crc &= 0xffff;
  }
  return static_cast<std::uint16_t>(crc);
}

std::string_view hashed_part(std::string_view key) {
  const auto open = key.find('{');
  if (open == key.npos) return key;
  const auto close = key.find('}', open + 1);
  if (close == key.npos || close == open + 1) return key;
  return key.substr(open + 1, close - open - 1);
}

std::uint16_t slot_of(std::string_view key) {
  return crc16(hashed_part(key)) % slot_count;
}

}  // namespace lockmark::redis
