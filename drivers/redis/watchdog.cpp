#include "drivers/redis/watchdog.hpp"

#include <algorithm>

#include "harness/async/lanes.hpp"

namespace lockmark::redis {
namespace {

// close() waits no longer than this for an answer, however long the lease is.
constexpr duration longest_answer = std::chrono::seconds{2};

// One connection for this many commands: a round takes as many round trips. At 10 ms each, that is
// still within a third of two seconds; more connections would only be more load.
constexpr std::size_t commands_each = 64;
constexpr std::size_t most_connections = 32;

}  // namespace

lock_option watchdog_option() {
  return yes_or_no("watchdog", "false",
                   "whether the lock renews itself every third of its lease while it is held");
}

bool watched(const option_values& options) {
  const auto chosen = options.find("watchdog");
  return chosen != options.end() && chosen->second == "true";
}

std::uint32_t watchdog::connections_for(std::uint32_t clients, std::size_t batch) {
  const std::size_t commands = (clients + batch - 1) / batch;
  const std::size_t wanted = (commands + commands_each - 1) / commands_each;
  return static_cast<std::uint32_t>(std::clamp<std::size_t>(wanted, 1, most_connections));
}

watchdog::watchdog(loop& l, topology_cache& at, traffic& count, std::uint32_t clients,
                   std::size_t batch, extender how)
    : loop_(l), count_(count), batch_(batch), extend_(std::move(how)), wake_(l), background_(l) {
  for (std::uint32_t i = 0; i < connections_for(clients, batch); ++i) {
    connections_.push_back(std::make_unique<connection>(l, at, count));
    idle_.push_back(connections_.back().get());
  }
}

void watchdog::add(hold h, duration lease, time_point ends) {
  throw_failure();
  care& c = held_.try_emplace(h, care{lease, 0, ++added_, ends, false}).first->second;
  if (c.levels > 0) note_if_late(c);
  c.lease = lease;
  c.ends = ends;
  c.counted = false;
  ++c.levels;
  if (!running_) {
    running_ = true;
    background_.spawn(run());
  }
  if (loop_.now() + lease / 3 >= next_) return;
  next_ = loop_.now() + lease / 3;
  wake_.set();
}

void watchdog::remove(hold h) {
  const auto at = held_.find(h);
  if (at == held_.end()) return;
  note_if_late(at->second);
  if (--at->second.levels == 0) held_.erase(at);
}

void watchdog::throw_failure() const {
  if (failure_) std::rethrow_exception(failure_);
}

duration watchdog::period() const {
  duration shortest = duration::max();
  for (const auto& [h, c] : held_) shortest = std::min(shortest, c.lease / 3);
  return shortest;
}

// An exception is no outcome of a lock: the next client that takes one throws it.
task<void> watchdog::run() {
  try {
    co_await renew_in_time();
  } catch (...) {
    failure_ = std::current_exception();
  }
}

task<void> watchdog::renew_in_time() {
  while (!closing_) {
    if (next_ == time_point::max()) {
      co_await wake_.wait();
      continue;
    }
    if (loop_.now() < next_) {
      co_await wake_.wait_until(next_);
      continue;
    }
    const duration until_next = period();
    next_ = held_.empty() ? time_point::max() : loop_.now() + until_next;
    const time_point deadline = loop_.now() + std::min(until_next, longest_answer);
    const std::vector<entries> all = batches();
    std::function<task<void>(std::size_t)> each = [&](std::size_t n) {
      return renew(all[n], deadline);
    };
    co_await in_lanes(loop_, all.size(), connections_.size(), std::move(each));
  }
}

// The hold that ends first comes first; holds with the same lease share a command.
std::vector<watchdog::entries> watchdog::batches() const {
  std::vector<entry> all(held_.begin(), held_.end());
  std::ranges::stable_sort(all, {}, [](const entry& e) { return e.second.ends; });
  std::vector<entries> parts;
  for (const entry& e : all) {
    const bool fits = !parts.empty() && parts.back().size() < batch_ &&
                      parts.back().front().second.lease == e.second.lease;
    if (!fits) parts.emplace_back();
    parts.back().push_back(e);
  }
  return parts;
}

// Without enough time it does nothing; these holds are then the first of the next round.
task<void> watchdog::renew(const entries& some, time_point deadline) {
  if (closing_ || loop_.now() >= deadline) co_return;
  connection& mine = *idle_.back();
  idle_.pop_back();
  std::vector<hold> holds;
  for (const auto& [h, c] : some) holds.push_back(h);
  const time_point asked = loop_.now();
  const auto said = co_await extend_(mine, holds, some.front().second.lease, deadline);
  idle_.push_back(&mine);
  if (said.done()) take(some, said.value(), asked);
}

void watchdog::take(const entries& some, const reply& said, time_point asked) {
  for (std::size_t i = 0; i < some.size(); ++i) {
    const auto at = held_.find(some[i].first);
    if (at == held_.end() || at->second.since != some[i].second.since) continue;
    care& c = at->second;
    note_if_late(c);
    const bool is_list = said.is(reply::kind::array) && i < said.parts.size();
    if ((is_list ? said.parts[i].number : said.number) == 0) {
      held_.erase(at);
      continue;
    }
    c.ends = std::max(c.ends, asked + c.lease);
    c.counted = false;
  }
}

void watchdog::note_if_late(care& c) {
  if (c.counted || loop_.now() <= c.ends) return;
  c.counted = true;
  ++count_.late_renewals;
}

task<void> watchdog::close() {
  closing_ = true;
  wake_.set();
  for (const auto& c : connections_) c->close();
  co_await background_.join();
  for (const auto& c : connections_) c->close();
  for (auto& [h, c] : held_) note_if_late(c);
}

}  // namespace lockmark::redis
