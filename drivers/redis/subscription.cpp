#include "drivers/redis/subscription.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "drivers/redis/connection.hpp"
#include "drivers/redis/replies.hpp"
#include "drivers/redis/slot.hpp"

namespace lockmark::redis {

using form = target::form;

namespace {

// Redisson's READ_UNLOCK_MESSAGE; any other message wakes one.
constexpr std::string_view wakes_all = "1";

}  // namespace

struct subscription::channel {
  explicit channel(std::string n) : name(std::move(n)) {}

  const std::string name;
  std::size_t places = 0;
  wire* on = nullptr;          // of the last SUBSCRIBE
  std::size_t unanswered = 0;  // SUBSCRIBEs sent and not confirmed
  bool asked = false;          // the last command was SUBSCRIBE
  bool confirmed = false;
  unsigned redirected = 0;        // how often another server turned out to be the channel's
  std::size_t permits = 0;        // messages without a waiter
  std::deque<place*> confirming;  // waiting for the confirmation
  std::deque<place*> waiting;     // waiting for a message, in order of arrival

  // Returns how many were woken; without a waiter, keeps a permit.
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
  // For a message to all: the release by a writer, for which readers may wait. A client that is
  // just asking gets a permit. (Redisson wakes only those waiting already: a client that is asking
  // at that moment waits for the end of the lease.)
  std::size_t wake_everybody() {
    const std::size_t woken = waiting.size();
    permits = places - woken;
    wake_all(waiting);
    return woken;
  }
  static void wake_all(std::deque<place*>& who) {
    for (place* p : std::exchange(who, {})) p->woken_.set();
  }
  static bool remove(std::deque<place*>& from, place* p) { return std::erase(from, p) > 0; }
};

subscription::subscription(loop& l, topology_cache& at, traffic& count)
    : loop_(l), at_(at), count_(count), reader_(l) {
  at_.tell([this] { leave_servers_of_old(); });
}

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
  while (!channel_.confirmed) {
    if (owner_.refused_) std::rethrow_exception(owner_.refused_);
    if (owner_.loop_.now() >= deadline) break;
    const unsigned redirected = channel_.redirected;
    woken_.clear();
    channel_.confirming.push_back(this);
    owner_.ask_for(channel_, deadline);
    ++owner_.count_.round_trips;
    co_await woken_.wait_until(deadline);
    channel::remove(channel_.confirming, this);
    if (owner_.refused_) std::rethrow_exception(owner_.refused_);
    if (redirected == channel_.redirected) break;
  }
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
  // A place that is no longer in the queue was woken, even if its deadline passed at that moment.
  co_return !channel::remove(channel_.waiting, this);
}

void subscription::place::hand_on() {
  channel_.wake_one();
}

// --- channels ---

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
    append_command(out, sharded() ? "SUNSUBSCRIBE" : "UNSUBSCRIBE", c.name);
    c.asked = c.confirmed = false;
    if (c.on->to.write_now(out, 1)) return lose_connection(*c.on);
  }
  if (c.unanswered == 0) channels_.erase(channels_.find(c.name));
}

// Waiters for the confirmation are woken even if there is no server to ask.
void subscription::ask_for(channel& c, time_point deadline) {
  if (c.asked) return;
  c.on = wire_for(c);
  if (c.on == nullptr) return channel::wake_all(c.confirming);
  if (c.on->now == wire::state::closed) {
    c.on->now = wire::state::connecting;
    reader_.spawn(run(*c.on, deadline));
  } else if (c.on->now == wire::state::connected) {
    subscribe_to(c);
  }
}

void subscription::subscribe_to(channel& c) {
  std::string out;
  append_command(out, sharded() ? "SSUBSCRIBE" : "SUBSCRIBE", c.name);
  c.asked = true;
  ++c.unanswered;
  if (c.on->to.write_now(out, 1)) lose_connection(*c.on);
}

// One command per channel: the channels of one SSUBSCRIBE would have to share a slot.
void subscription::subscribe_to_all(wire& w) {
  std::vector<channel*> all;
  for (const auto& [name, c] : channels_) {
    if (c->on == &w && c->places > 0) all.push_back(c.get());
  }
  for (channel* const c : all) {
    if (c->on == &w && w.to.is_open()) subscribe_to(*c);
  }
}

void subscription::forget(channel& c) {
  c.asked = c.confirmed = false;
  c.unanswered = 0;
  c.permits = 0;
  channel::wake_all(c.confirming);
  channel::wake_all(c.waiting);
}

// --- connections ---

// Classic messages reach every node of a Cluster, and the only server of anything else.
subscription::wire* subscription::wire_for(const channel& c) {
  if (at_.where().how != form::cluster || !sharded()) {
    if (wires_.empty()) wires_.push_back(std::make_unique<wire>(loop_, at_.where(), count_));
    wire& only = *wires_.front();
    const bool chooses = at_.where().how == form::cluster && only.now == wire::state::closed;
    if (chooses && at_.knows_the_cluster()) only.to.aim_at(at_.masters().front());
    return &only;
  }
  const host_port* const at = at_.master_of(slot_of(c.name));
  return at == nullptr ? nullptr : &wire_to(*at);
}

subscription::wire& subscription::wire_to(const host_port& at) {
  for (const auto& w : wires_) {
    if (w->to.at() == at) return *w;
  }
  wires_.push_back(std::make_unique<wire>(loop_, at_.where(), count_));
  wires_.back()->to.aim_at(at);
  return *wires_.back();
}

task<void> subscription::run(wire& w, time_point deadline) {
  std::error_code error;
  try {
    if (at_.where().how == form::sentinel) {
      error = co_await at_.open_master(w.to, deadline);
    } else {
      error = co_await w.to.open(deadline);
    }
  } catch (const no_server&) {
    refused_ = std::current_exception();
  }
  if (closing_) w.to.close();
  if (w.to.is_open()) {
    w.now = wire::state::connected;
    subscribe_to_all(w);
  }
  while (w.to.is_open()) {
    reply r;
    error = co_await w.to.read(r, time_point::max());
    if (!error) take(w, r);
    if (is_no_redis(error)) refuse(w, sentence(w.to.where(), error));
  }
  w.now = wire::state::closed;
  lose_connection(w);
}

void subscription::take(wire& w, const reply& r) {
  if (r.is(reply::kind::error)) return take_error(w, r);
  const auto said = parse_push(r, sharded());
  if (!said) {
    return refuse(w, fmt::format("{} sent {} to a subscriber, which is no message",
                                 w.to.where().name(), describe(r)));
  }
  const auto at = channels_.find(said->channel);
  if (at == channels_.end() || at->second->on != &w) return;
  channel& c = *at->second;
  if (said->what == push::kind::subscribed) {
    if (c.unanswered == 0) return;  // not requested
    c.confirmed = --c.unanswered == 0 && c.asked;
    if (c.confirmed) channel::wake_all(c.confirming);
    if (c.places == 0) drop_unused(c);
  } else if (said->what == push::kind::unsubscribed) {
    if (c.confirmed) forget(c);  // not requested: the slot has moved to another node
  } else if (c.places > 0) {
    count_.wakeups += said->text == wakes_all ? c.wake_everybody() : c.wake_one();
  }
}

// An error of a node that does not (or no longer) serve the slot, of a server that cannot work now,
// or one that ends the run.
void subscription::take_error(wire& w, const reply& r) {
  if (judge(r, at_.where().how) == verdict::unexpected) {
    const auto command = sharded() ? "SSUBSCRIBE" : "SUBSCRIBE";
    return refuse(w, answered_with_error(w.to.where().name(), command, r));
  }
  const auto said = parse_redirection(r.text, w.to.at());
  if (!said) return lose_connection(w);
  const redirection to = at_.understood(*said);
  at_.learn(to);
  std::vector<channel*> moved;
  for (const auto& [name, c] : channels_) {
    if (c->on == &w && !c->confirmed && slot_of(name) == to.slot) moved.push_back(c.get());
  }
  for (channel* const c : moved) {
    ++c->redirected;
    forget(*c);
    if (c->places == 0) drop_unused(*c);
  }
}

// Every waiter is woken, and throws when it subscribes again.
void subscription::refuse(wire& w, const std::string& sentence) {
  refused_ = std::make_exception_ptr(no_server(sentence));
  lose_connection(w);
}

void subscription::lose_connection(wire& w) {
  w.to.close();
  std::erase_if(channels_, [&w](const auto& named) {
    return named.second->places == 0 && (named.second->on == &w || named.second->on == nullptr);
  });
  for (auto& [name, c] : channels_) {
    if (c->on == &w) forget(*c);
  }
}

// A paused server says nothing, so it does not say that it is no longer the master. Who waits for a
// confirmation asks the new one.
void subscription::leave_servers_of_old() {
  for (const auto& w : wires_) {
    if (w->now != wire::state::connected) continue;
    bool is_old = at_.where().how == form::sentinel && w->to.at() != at_.master();
    for (const auto& [name, c] : channels_) {
      if (!sharded() || c->on != w.get() || !c->asked) continue;
      const host_port* const now = at_.master_of(slot_of(name));
      is_old = is_old || (now != nullptr && *now != w->to.at());
    }
    if (!is_old) continue;
    for (const auto& [name, c] : channels_) {
      if (c->on == w.get()) ++c->redirected;
    }
    lose_connection(*w);
  }
}

task<void> subscription::close() {
  closing_ = true;
  at_.tell(nullptr);
  for (const auto& w : wires_) w->to.close();
  co_await reader_.join();
}

}  // namespace lockmark::redis
