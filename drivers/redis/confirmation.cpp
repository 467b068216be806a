#include "drivers/redis/confirmation.hpp"

#include <charconv>
#include <optional>

namespace lockmark::redis {
namespace {

constexpr std::int64_t most = 100;

std::optional<std::int64_t> count_in(std::string_view text) {
  std::int64_t count = -1;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, count);
  if (error != std::errc{} || stopped != end || count < 0 || count > most) return std::nullopt;
  return count;
}

}  // namespace

lock_option wait_replicas_option() {
  return {.name = "wait_replicas",
          .values = "0 to 100",
          .preset = "0",
          .help =
              "a lock is only taken once so many replicas have confirmed it (WAIT, up to 1 s), "
              "and otherwise given up again; 0: nobody asks them",
          .accepts = [](std::string_view v) { return count_in(v).has_value(); }};
}

std::int64_t replicas_wanted(const option_values& options) {
  const auto chosen = options.find("wait_replicas");
  return chosen == options.end() ? 0 : count_in(chosen->second).value_or(0);
}

outcome<grant> ending_of_undone(const outcome<nothing>& undone) {
  if (undone.done() || undone.refused(refusal::not_owner)) return refusal::unavailable;
  return undone.in_doubt() ? undone.why_in_doubt() : doubt::deadline;
}

}  // namespace lockmark::redis
