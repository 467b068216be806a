#include "drivers/redis/wall_clock.hpp"

#include <fmt/format.h>

#include <charconv>

#include "drivers/redis/answer_shape.hpp"

namespace lockmark::redis {
namespace {

// All of a text, not negative and below `limit`.
std::optional<std::int64_t> count_below(std::int64_t limit, const reply& r) {
  std::int64_t n = 0;
  const char* const end = r.text.data() + r.text.size();
  const auto read = std::from_chars(r.text.data(), end, n);
  const bool fits = read.ec == std::errc{} && read.ptr == end && n >= 0 && n < limit;
  return fits ? std::optional{n} : std::nullopt;
}

}  // namespace

std::optional<duration> time_of_day(const reply& r) {
  if (r.parts.size() != 2) return std::nullopt;
  const auto seconds = count_below(std::int64_t{1} << 32, r.parts[0]);
  const auto microseconds = count_below(1'000'000, r.parts[1]);
  if (!seconds || !microseconds) return std::nullopt;
  return std::chrono::seconds{*seconds} + std::chrono::microseconds{*microseconds};
}

task<void> wall_clock::set(connection& c, time_point deadline) {
  duration quickest = duration::max();
  for (int i = 0; i < 3; ++i) {
    const time_point asked = loop_.now();
    const reply r = co_await c.demand(deadline, "TIME");
    const auto said = time_of_day(r);
    if (!said) {
      throw no_server(fmt::format("{} does not tell its time: it answered TIME with {}", c.name(),
                                  describe(r)));
    }
    const duration taken = loop_.now() - asked;
    if (taken >= quickest) continue;
    quickest = taken;
    epoch_ = asked + taken / 2 - *said;
  }
}

}  // namespace lockmark::redis
