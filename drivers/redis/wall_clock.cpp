#include "drivers/redis/wall_clock.hpp"

#include <fmt/format.h>

#include <charconv>

namespace lockmark::redis {
namespace {

std::int64_t number_of(std::string_view text) {
  std::int64_t n = 0;
  std::from_chars(text.data(), text.data() + text.size(), n);
  return n;
}

}  // namespace

duration time_of_day(const reply& r) {
  if (!r.is(reply::kind::array) || r.parts.size() != 2) return {};
  return std::chrono::seconds{number_of(r.parts[0].text)} +
         std::chrono::microseconds{number_of(r.parts[1].text)};
}

task<void> wall_clock::set(connection& c, time_point deadline) {
  duration quickest = duration::max();
  for (int i = 0; i < 3; ++i) {
    const time_point asked = loop_.now();
    const reply r = co_await c.demand(deadline, "TIME");
    if (r.is(reply::kind::error)) {
      throw no_server(fmt::format("the Redis server does not tell its time: {}", r.text));
    }
    const duration taken = loop_.now() - asked;
    if (taken >= quickest) continue;
    quickest = taken;
    epoch_ = asked + taken / 2 - time_of_day(r);
  }
}

}  // namespace lockmark::redis
