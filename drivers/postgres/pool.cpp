#include "drivers/postgres/pool.hpp"

#include <algorithm>

#include "drivers/postgres/errors.hpp"
#include "harness/async/lanes.hpp"

namespace lockmark::postgres {

pool::pool(loop& l, route& way, const greeting& hello, const instance& who)
    : loop_(l), way_(way), hello_(hello), who_(who), places_(who.clients) {}

task<void> pool::fill(time_point deadline) {
  std::function<task<void>(std::size_t)> one = [this, deadline](std::size_t client) {
    return log_in(static_cast<std::uint32_t>(client), deadline);
  };
  co_await in_lanes(loop_, places_.size(), who_.logins, std::move(one));
  who_.on_login = nullptr;
}

task<void> pool::log_in(std::uint32_t client, time_point deadline) {
  const time_point by = std::min(deadline, loop_.now() + who_.login_within);
  const reached there = co_await make_ready(idle_place(client), by);
  if (there.failed()) throw no_server(there.why);
  if (who_.on_login) who_.on_login();
}

pool::place& pool::idle_place(std::uint32_t client) {
  auto& own = places_[client];
  const auto idle = std::ranges::find_if(own, [](const auto& p) { return !p->lent; });
  if (idle != own.end()) return **idle;
  own.push_back(std::make_unique<place>());
  own.back()->link = std::make_unique<connection>(loop_, sent_);
  return *own.back();
}

bool pool::is_sound(place& p) const {
  return !p.link->broken() && way_.leads_to(p.link->where());
}

connection* pool::at_hand(std::uint32_t client) {
  place& p = idle_place(client);
  if (!is_sound(p)) return nullptr;
  p.lent = true;
  return p.link.get();
}

task<reached> pool::make_ready(place& p, time_point deadline) {
  if (is_sound(p)) co_return reached{};
  p.link->drop();
  if (p.was_connected) ++sent_.reconnects;
  reached there = co_await way_.reach(loop_, *p.link, deadline);
  if (there.failed()) co_return there;
  p.was_connected = true;
  const answer greeted = co_await p.link->greet(hello_, deadline);
  if (greeted.done()) co_return there;
  there.why = sentence(p.link->where(), "begin a session", greeted);
  there.for_good = is_permanent(greeted.sqlstate);
  p.link->drop();
  co_return there;
}

task<outcome<connection*>> pool::borrow(std::uint32_t client, time_point deadline) {
  place& p = idle_place(client);
  p.lent = true;
  const reached there = co_await make_ready(p, deadline);
  if (!there.failed()) co_return p.link.get();
  p.lent = false;
  if (there.for_good) throw no_server(there.why);
  co_return refusal::unavailable;
}

void pool::give_back(std::uint32_t client, const connection& c) {
  const auto taken = [&](const auto& p) { return p->link.get() == &c; };
  (*std::ranges::find_if(places_[client], taken))->lent = false;
}

void pool::quit() {
  for (auto& own : places_) {
    for (auto& p : own) p->link->quit();
  }
}

traffic pool::sent() const {
  traffic all = sent_;
  for (const auto& own : places_) {
    for (const auto& p : own) all += p->link->on_wire();
  }
  return all;
}

}  // namespace lockmark::postgres
