#include "drivers/redis/subscription.hpp"

#include <algorithm>
#include <deque>
#include <utility>

namespace lockmark::redis {
namespace {

// Redisson's READ_UNLOCK_MESSAGE; any other message wakes one.
constexpr std::string_view wakes_all = "1";

}  // namespace

struct subscription::channel {
  explicit channel(std::string n) : name(std::move(n)) {}

  const std::string name;
  std::size_t places = 0;
  std::size_t unanswered = 0;  // SUBSCRIBEs sent and not confirmed
  bool asked = false;          // the last that was sent is SUBSCRIBE
  bool confirmed = false;
  std::size_t permits = 0;        // messages that found nobody waiting
  std::deque<place*> confirming;  // wait for the confirmation
  std::deque<place*> waiting;     // wait for a message, in the order of their coming

  // How many were woken; for nobody, the permit is kept.
  std::size_t wake_one() {
    if (waiting.empty()) {
      ++permits;
      return 0;
    }
    place* const first = waiting.front();
    waiting.pop_front();
    first->woken_.set();
    return 1;
  }
  // For a message that is meant for all: a release by a writer, for whom readers may wait.
  std::size_t wake_everybody() {
    const std::size_t woken = waiting.size();
    wake_all(waiting);
    return woken;
  }
  static void wake_all(std::deque<place*>& who) {
    for (place* p : std::exchange(who, {})) p->woken_.set();
  }
  static bool remove(std::deque<place*>& from, place* p) { return std::erase(from, p) > 0; }
};

subscription::subscription(loop& l, const target& where, traffic& count)
    : loop_(l), link_(l, where, count), count_(count), reader_(l) {}

subscription::~subscription() = default;

subscription::place::place(subscription& s, const std::string& name)
    : owner_(s), channel_(s.find_or_add(name)), woken_(s.loop_) {
  ++channel_.places;
}

subscription::place::~place() {
  if (--channel_.places == 0) owner_.drop_unused(channel_);
}

bool subscription::place::confirmed() const {
  return channel_.confirmed;
}

task<bool> subscription::place::confirm(time_point deadline) {
  if (channel_.confirmed) co_return true;
  woken_.clear();
  channel_.confirming.push_back(this);
  if (owner_.state_ == state::closed) owner_.start(deadline);
  if (owner_.state_ == state::connected && !channel_.asked) owner_.subscribe_to(channel_);
  ++owner_.count_.round_trips;
  co_await woken_.wait_until(deadline);
  channel::remove(channel_.confirming, this);
  if (owner_.refused_) std::rethrow_exception(owner_.refused_);
  co_return channel_.confirmed;
}

task<bool> subscription::place::wait(time_point deadline) {
  if (channel_.permits > 0) {
    --channel_.permits;
    co_return true;
  }
  if (!channel_.confirmed) co_return true;
  woken_.clear();
  channel_.waiting.push_back(this);
  co_await woken_.wait_until(deadline);
  // Whoever is no longer in the queue was woken, also at the very moment of its deadline.
  co_return !channel::remove(channel_.waiting, this);
}

void subscription::place::hand_on() {
  channel_.wake_one();
}

subscription::channel& subscription::find_or_add(const std::string& name) {
  auto& slot = channels_[name];
  if (!slot) slot = std::make_unique<channel>(name);
  return *slot;
}

// A lost connection drops unused channels itself.
void subscription::drop_unused(channel& c) {
  c.permits = 0;
  if (c.asked) {
    std::string out;
    append_command(out, "UNSUBSCRIBE", c.name);
    c.asked = c.confirmed = false;
    if (link_.write_now(out, 1)) return lose_connection();
  }
  if (c.unanswered == 0) channels_.erase(channels_.find(c.name));
}

void subscription::subscribe_to(channel& c) {
  std::string out;
  append_command(out, "SUBSCRIBE", c.name);
  c.asked = true;
  ++c.unanswered;
  if (link_.write_now(out, 1)) lose_connection();
}

void subscription::subscribe_to_all() {
  std::string out;
  std::size_t commands = 0;
  for (auto& [name, c] : channels_) {
    if (c->places == 0) continue;
    append_command(out, "SUBSCRIBE", name);
    ++commands;
    c->asked = true;
    ++c->unanswered;
  }
  if (link_.write_now(out, commands)) lose_connection();
}

void subscription::start(time_point deadline) {
  state_ = state::connecting;
  reader_.spawn(run(deadline));
}

task<void> subscription::run(time_point deadline) {
  std::error_code error;
  try {
    error = co_await link_.open(deadline);
  } catch (const no_server&) {
    refused_ = std::current_exception();
  }
  if (closing_) link_.close();
  if (link_.is_open()) {
    state_ = state::connected;
    subscribe_to_all();
  }
  while (link_.is_open()) {
    reply r;
    error = co_await link_.read(r, time_point::max());
    if (!error) take(r);
  }
  state_ = state::closed;
  lose_connection();
}

// ["subscribe", channel, count], ["unsubscribe", ...] or ["message", channel, text].
void subscription::take(const reply& r) {
  if (r.parts.size() != 3) return lose_connection();
  const auto at = channels_.find(r.parts[1].text);
  if (at == channels_.end()) return;
  channel& c = *at->second;
  if (r.parts[0].text == "subscribe") {
    c.confirmed = --c.unanswered == 0 && c.asked;
    if (c.confirmed) channel::wake_all(c.confirming);
    if (c.places == 0) drop_unused(c);
  } else if (r.parts[0].text == "message" && c.places > 0) {
    count_.wakeups += r.parts[2].text == wakes_all ? c.wake_everybody() : c.wake_one();
  }
}

void subscription::lose_connection() {
  link_.close();
  std::erase_if(channels_, [](const auto& named) { return named.second->places == 0; });
  for (auto& [name, c] : channels_) {
    c->asked = c->confirmed = false;
    c->unanswered = 0;
    c->permits = 0;
    channel::wake_all(c->confirming);
    channel::wake_all(c->waiting);
  }
}

task<void> subscription::close() {
  closing_ = true;
  link_.close();
  co_await reader_.join();
}

}  // namespace lockmark::redis
