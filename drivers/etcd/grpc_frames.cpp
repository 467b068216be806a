#include "drivers/etcd/grpc_frames.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace lockmark::etcd {
namespace {

constexpr std::size_t prefix_size = 5;

std::uint32_t big_endian(std::string_view four) {
  std::uint32_t value = 0;
  for (const char c : four) value = value << 8U | static_cast<unsigned char>(c);
  return value;
}

// 16: not a hexadecimal digit.
unsigned digit_of(char c) {
  constexpr std::string_view lower = "0123456789abcdef";
  constexpr std::string_view upper = "0123456789ABCDEF";
  const auto at = lower.find(c) != lower.npos ? lower.find(c) : upper.find(c);
  return at == lower.npos ? 16 : static_cast<unsigned>(at);
}

}  // namespace

std::string framed(std::string_view message) {
  std::string all(1, '\0');
  for (unsigned shift = 32; shift > 0; shift -= 8) {
    all += static_cast<char>(message.size() >> (shift - 8) & 0xffU);
  }
  return all.append(message);
}

void message_splitter::feed(std::string_view bytes) {
  bytes_.erase(0, taken_);
  taken_ = 0;
  if (wrong_.empty()) bytes_.append(bytes);
}

std::optional<std::string_view> message_splitter::next() {
  const std::string_view rest = std::string_view{bytes_}.substr(taken_);
  if (!wrong_.empty() || rest.empty()) return std::nullopt;
  if (rest[0] != '\0') {
    wrong_ = "a compressed message, which nobody asked for";
    return std::nullopt;
  }
  if (rest.size() < prefix_size) return std::nullopt;
  const std::size_t size = big_endian(rest.substr(1, 4));
  if (size > largest_message) {
    wrong_ = fmt::format("a message of {} bytes, more than {}", size, largest_message);
    return std::nullopt;
  }
  if (rest.size() < prefix_size + size) return std::nullopt;
  taken_ += prefix_size + size;
  return rest.substr(prefix_size, size);
}

std::string percent_decoded(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_code = text[i] == '%' && text.size() - i > 2 && digit_of(text[i + 1]) < 16 &&
                         digit_of(text[i + 2]) < 16;
    if (!is_code) {
      plain += text[i];
      continue;
    }
    plain += static_cast<char>(digit_of(text[i + 1]) << 4U | digit_of(text[i + 2]));
    i += 2;
  }
  return plain;
}

}  // namespace lockmark::etcd
