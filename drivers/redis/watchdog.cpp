#include "drivers/redis/watchdog.hpp"

#include <algorithm>

namespace lockmark::redis {
namespace {

// However long the lease is, close() must not wait longer for an answer.
constexpr duration longest_answer = std::chrono::seconds{2};

}  // namespace

lock_option watchdog_option() {
  return {.name = "watchdog",
          .values = "true, false",
          .preset = "false",
          .help = "whether the lock renews itself every third of its lease while it is held",
          .accepts = [](std::string_view v) { return v == "true" || v == "false"; }};
}

bool watched(const option_values& options) {
  const auto chosen = options.find("watchdog");
  return chosen != options.end() && chosen->second == "true";
}

watchdog::watchdog(loop& l, whereabouts& at, traffic& count, std::size_t batch, extender how)
    : loop_(l),
      connection_(l, at, count),
      batch_(batch),
      extend_(std::move(how)),
      wake_(l),
      background_(l) {}

void watchdog::add(hold h, duration lease) {
  const auto [at, is_new] = held_.try_emplace(h, care{lease, 0, ++added_});
  at->second.lease = lease;
  ++at->second.levels;
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
  if (at != held_.end() && --at->second.levels == 0) held_.erase(at);
}

duration watchdog::period() const {
  duration shortest = duration::max();
  for (const auto& [h, c] : held_) shortest = std::min(shortest, c.lease / 3);
  return shortest;
}

task<void> watchdog::run() {
  while (!closing_) {
    if (loop_.now() >= next_) {
      const duration until_next = period();
      next_ = held_.empty() ? time_point::max() : loop_.now() + until_next;
      co_await renew_all(loop_.now() + std::min(until_next, longest_answer));
      continue;
    }
    if (next_ == time_point::max()) {
      co_await wake_.wait();
    } else {
      co_await wake_.wait_until(next_);
    }
  }
}

// Holds of one lease together, as many as fit into a command.
task<void> watchdog::renew_all(time_point deadline) {
  std::vector<entry> all(held_.begin(), held_.end());
  const auto by_lease = [](const entry& a, const entry& b) {
    return a.second.lease < b.second.lease;
  };
  std::stable_sort(all.begin(), all.end(), by_lease);
  for (auto from = all.begin(); from != all.end() && !closing_;) {
    const auto fits = [&](const entry& e) { return e.second.lease == from->second.lease; };
    const auto room = from + std::min(all.end() - from, static_cast<std::ptrdiff_t>(batch_));
    const auto until = std::find_if_not(from, room, fits);
    std::vector<entry> some(from, until);
    co_await renew_some(std::move(some), deadline);
    from = until;
  }
}

task<void> watchdog::renew_some(std::vector<entry> some, time_point deadline) {
  std::vector<hold> holds;
  for (const auto& [h, c] : some) holds.push_back(h);
  const auto said = co_await extend_(connection_, holds, some.front().second.lease, deadline);
  if (!said.done()) co_return;
  const reply& r = said.value();
  for (std::size_t i = 0; i < some.size(); ++i) {
    const bool is_list = r.is(reply::kind::array) && i < r.parts.size();
    if ((is_list ? r.parts[i].number : r.number) != 0) continue;
    const auto at = held_.find(some[i].first);
    if (at != held_.end() && at->second.since == some[i].second.since) held_.erase(at);
  }
}

task<void> watchdog::close() {
  closing_ = true;
  wake_.set();
  connection_.close();
  co_await background_.join();
  connection_.close();
}

}  // namespace lockmark::redis
