// Helpers for the options of the locks on PostgreSQL.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>

#include "harness/driver.hpp"

namespace lockmark::postgres {

// A string literal as a template argument.
template <std::size_t N>
struct word {
  constexpr word(const char (&text)[N]) { std::copy_n(text, N, letters); }
  constexpr std::string_view view() const { return {letters, N - 1}; }
  char letters[N]{};
};

// lock_option::accepts for one of a few words.
template <word... Words>
bool is_one_of(std::string_view value) {
  return ((value == Words.view()) || ...);
}

// "250ms" or "30s": above zero, at most a day.
inline std::optional<duration> read_duration(std::string_view text) {
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

// For locks that write: what a commit waits for. Not set behind a pooler, whose sessions belong to
// others, too.
inline constexpr lock_option commit_option{
    .name = "synchronous_commit",
    .values = "server, on, local, off",
    .preset = "server",
    .help =
        "what a commit waits for: as the server is set; disk and standbys; its own disk; nothing",
    .accepts = is_one_of<"server", "on", "local", "off">};

}  // namespace lockmark::postgres
