#include "drivers/etcd/leases.hpp"

#include <algorithm>
#include <utility>

#include "drivers/etcd/paths.hpp"

namespace lockmark::etcd {
namespace {

using namespace std::chrono_literals;

constexpr duration ask_again = 100ms;  // while there is no connection
constexpr duration one_revocation = 2s;

// No server's word makes us count beyond a day.
duration seconds_of(std::int64_t ttl_s) {
  constexpr std::int64_t day_s = 86'400;
  return std::chrono::seconds(std::clamp<std::int64_t>(ttl_s, 1, day_s));
}

}  // namespace

std::int64_t whole_seconds(duration asked) {
  return std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::seconds>(asked).count());
}

task<std::shared_ptr<lease>> lease_keeper::grant(duration ttl, call_limits until) {
  co_await channel_.connected_by(until.begin);
  const time_point asked_at = loop_.now();
  const answer said = co_await channel_.call(grant_path, lease_request(whole_seconds(ttl)), until);
  if (!said.ok()) co_return nullptr;
  const lease_state granted = channel_.believed(read_lease(said.body), grant_path);
  auto made = std::make_shared<lease>();
  made->id = granted.id;
  made->ttl = seconds_of(granted.ttl_s);
  made->valid_until = asked_at + made->ttl;
  made->ask_at = loop_.now() + made->ttl / 3;
  kept_.push_back(made);
  if (!std::exchange(running_, true)) tasks_.spawn(keep_alive());
  poked_.set();
  co_return made;
}

task<void> lease_keeper::keep_alive() {
  while (!ending_) {
    if (std::exchange(no_leader_, false)) channel_.distrust("has no leader");
    std::erase_if(kept_, [](const auto& l) { return l->over; });
    time_point next = time_point::max();
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      if (loop_.now() >= kept_[i]->ask_at) ask(*kept_[i]);
      next = std::min(next, kept_[i]->ask_at);
    }
    co_await poked_.wait_until(next);
  }
}

void lease_keeper::ask(lease& l) {
  l.ask_at = loop_.now() + (channel_.connected() ? l.ttl / 3 : ask_again);
  if (l.asking && channel_.connected() && channel_.heard_at() < l.asked_at) {
    return channel_.distrust("has not answered for a third of a lease");
  }
  const std::string request = keep_alive_request(l.id);
  if (stream_ == 0) {
    stream_ = channel_.start_talk(keep_alive_path, request, *this);
    if (stream_ == 0) return;
  } else {
    channel_.say(stream_, request);
  }
  if (std::exchange(l.asking, true)) return;  // the older one will be answered first
  l.asked_at = loop_.now();
}

bool lease_keeper::on_news(std::string_view message) {
  const auto state = read_kept_alive(message);
  if (!state) return false;
  const auto is_it = [&](const auto& l) { return l->id == state->id; };
  const auto found = std::ranges::find_if(kept_, is_it);
  if (found == kept_.end()) return true;  // abandoned meanwhile
  lease& l = **found;
  if (state->ttl_s <= 0) {
    l.over = true;
    poked_.set();
    return true;
  }
  if (!std::exchange(l.asking, false)) return true;
  if (loop_.now() > l.valid_until) ++count_.late_renewals;
  l.ttl = seconds_of(state->ttl_s);
  l.valid_until = l.asked_at + l.ttl;
  l.ask_at = loop_.now() + l.ttl / 3;
  return true;
}

// The next request goes over another stream, at once if there is a connection.
void lease_keeper::on_over(trouble why) {
  stream_ = 0;
  no_leader_ = why == trouble::not_now;
  for (const auto& l : kept_) {
    l->asking = false;
    l->ask_at = loop_.now();
  }
  poked_.set();
}

void lease_keeper::abandon(std::shared_ptr<lease> l) {
  std::erase(kept_, l);
  abandoned_.push_back(l);
  tasks_.spawn(revoke_later(std::move(l)));
}

task<void> lease_keeper::revoke(std::shared_ptr<lease> l, time_point deadline) {
  try {
    const answer said = co_await channel_.call(revoke_path, revoke_request(l->id), deadline);
    if (said.ok() || said.what == trouble::lease_gone) l->over = true;
  } catch (const no_server&) {
    // Whoever waits for an answer will be told; a lease ends without us, too.
  }
}

task<bool> lease_keeper::end(std::shared_ptr<lease> l, time_point deadline) {
  co_await revoke(l, deadline);
  if (l->over) poked_.set();  // and so no longer kept
  co_return l->over;
}

task<void> lease_keeper::revoke_later(std::shared_ptr<lease> l) {
  const time_point end = l->valid_until + l->ttl;  // a new leader prolongs it once
  while (!ending_ && !l->over && loop_.now() < end) {
    const time_point soon = std::min(end, loop_.now() + one_revocation);
    co_await revoke(l, soon);
    if (!l->over && !ending_) co_await loop_.sleep_for(ask_again);
  }
  std::erase(abandoned_, l);
}

task<void> lease_keeper::end_all(time_point deadline) {
  ending_ = true;
  poked_.set();
  std::vector<std::shared_ptr<lease>> all = std::exchange(kept_, {});
  all.insert(all.end(), abandoned_.begin(), abandoned_.end());
  if (!channel_.connected()) co_return;
  scope side_by_side{loop_};
  for (const auto& l : all) {
    if (!l->over) side_by_side.spawn(revoke(l, deadline));
  }
  co_await side_by_side.join();
}

}  // namespace lockmark::etcd
