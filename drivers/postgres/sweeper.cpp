#include "drivers/postgres/sweeper.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "drivers/postgres/errors.hpp"
#include "drivers/postgres/options.hpp"

namespace lockmark::postgres {
namespace {

using namespace std::chrono_literals;

constexpr duration sweep_limit = 1s;  // close() waits no longer

}  // namespace

std::optional<duration> read_sweep(const std::string& value) {
  if (value == "off") return std::nullopt;
  return read_duration(value);
}

bool accepts_sweep(std::string_view value) {
  return value == "off" || read_duration(value).has_value();
}

sweeper::sweeper(loop& l, route& way, const std::string& table, duration age)
    : loop_(l),
      way_(way),
      sql_(fmt::format("DELETE FROM {} WHERE taken_at < now() - interval '{} microseconds'", table,
                       age / 1us)),
      interval_(std::clamp<duration>(age / 4, 5ms, 1s)),
      link_(l, sent_),
      stopped_(l),
      background_(l) {}

task<void> sweeper::sweep() {
  while (true) {
    const bool told_to_end = co_await stopped_.wait_until(loop_.now() + interval_);
    if (told_to_end) break;
    co_await sweep_once();
  }
  link_.quit();
}

// The next turn makes up for a failure.
task<void> sweeper::sweep_once() {
  const time_point limit = loop_.now() + sweep_limit;
  if (link_.broken() || !way_.leads_to(link_.where())) {
    link_.drop();
    const reached there = co_await way_.reach(loop_, link_, limit);
    if (there.failed()) co_return;
  }
  const answer a = co_await link_.query(sql_, limit);
  if (!a.done() && is_for_another_server(a.sqlstate)) link_.drop();
}

task<void> sweeper::stop() {
  stopped_.set();
  return background_.join();
}

traffic sweeper::sent() const {
  traffic all = sent_;
  all += link_.on_wire();
  return all;
}

}  // namespace lockmark::postgres
