// The promises and behaviour of a lock, as bits that it declares and workloads require.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace lockmark {

enum class feature : std::uint32_t {
  fencing_token = 1U << 0,  // each grant of a key carries a larger number than the last
  lease = 1U << 1,          // the server frees the lock when its lease runs out
  renewable = 1U << 2,      // a lease can be extended while it is held
  session_bound = 1U << 3,  // the server frees the lock when the client's session ends
  server_wait = 1U << 4,    // acquire() waits and is woken; otherwise, it tries once
  fair = 1U << 5,           // waiters are served in order of arrival
  reentrant = 1U << 6,      // an owner may acquire again a lock that it holds
  shared = 1U << 7,         // several owners may hold at once (readers, semaphores)
  optimistic = 1U << 8,     // no exclusion: acquire() reads, release() commits or conflicts
  // The session outlives its connection: it ends after a time-out without contact.
  session_timeout = 1U << 9,
};

class features {
 public:
  constexpr features() = default;
  constexpr features(feature f) : bits_(static_cast<std::uint32_t>(f)) {}

  constexpr bool has(feature f) const { return (bits_ & static_cast<std::uint32_t>(f)) != 0; }
  constexpr features without(features other) const { return features{bits_ & ~other.bits_}; }
  constexpr bool empty() const { return bits_ == 0; }
  friend constexpr features operator|(features a, features b) {
    return features{a.bits_ | b.bits_};
  }
  friend constexpr bool operator==(features, features) = default;

 private:
  explicit constexpr features(std::uint32_t bits) : bits_(bits) {}
  std::uint32_t bits_ = 0;
};

constexpr features operator|(feature a, feature b) {
  return features{a} | features{b};
}

inline constexpr std::array<std::pair<feature, std::string_view>, 10> feature_names{{
    {feature::fencing_token, "fencing token"},
    {feature::lease, "lease"},
    {feature::renewable, "renewable"},
    {feature::session_bound, "session-bound"},
    {feature::server_wait, "server-side wait"},
    {feature::fair, "fair"},
    {feature::reentrant, "reentrant"},
    {feature::shared, "shared mode"},
    {feature::optimistic, "optimistic"},
    {feature::session_timeout, "session timeout"},
}};

// "lease, renewable"; "none" for the empty set.
inline std::string to_string(features set) {
  std::string text;
  for (const auto& [bit, name] : feature_names) {
    if (!set.has(bit)) continue;
    if (!text.empty()) text += ", ";
    text += name;
  }
  return text.empty() ? "none" : text;
}

}  // namespace lockmark
