#include "drivers/mysql/options.hpp"

#include <charconv>

namespace lockmark::mysql {

std::optional<duration> read_duration(std::string_view text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  const std::string_view unit{stopped, static_cast<std::size_t>(end - stopped)};
  if (error != std::errc{} || number <= 0 || (unit != "ms" && unit != "s")) return std::nullopt;
  constexpr std::chrono::milliseconds longest = std::chrono::hours{24};
  const std::int64_t unit_ms = unit == "s" ? 1000 : 1;
  if (number > longest.count() / unit_ms) return std::nullopt;
  return std::chrono::milliseconds{number * unit_ms};
}

}  // namespace lockmark::mysql
