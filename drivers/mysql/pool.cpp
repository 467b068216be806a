#include "drivers/mysql/pool.hpp"

#include <algorithm>

#include "drivers/mysql/errors.hpp"
#include "harness/async/scope.hpp"

namespace lockmark::mysql {
namespace {

// So many logins at a time: fewer than the smallest queue that servers keep for new connections.
constexpr std::uint32_t logins_at_once = 16;

}  // namespace

pool::pool(loop& l, route& way, std::string greeting, const instance& who)
    : loop_(l),
      way_(way),
      instance_(who.number),
      greeting_(std::move(greeting)),
      places_(who.clients) {}

task<void> pool::fill(time_point deadline) {
  const auto clients = static_cast<std::uint32_t>(places_.size());
  const std::uint32_t lanes = std::min(logins_at_once, clients);
  scope logins{loop_};
  for (std::uint32_t i = 0; i < lanes; ++i) logins.spawn(fill_every(lanes, i, deadline));
  co_await logins.join();
}

task<void> pool::fill_every(std::uint32_t stride, std::uint32_t first, time_point deadline) {
  for (std::uint32_t client = first; client < places_.size(); client += stride) {
    const std::string why = co_await make_ready(idle_place(client), deadline);
    if (!why.empty()) throw no_server(why);
  }
}

pool::place& pool::idle_place(std::uint32_t client) {
  auto& own = places_[client];
  const auto idle = std::ranges::find_if(own, [](const auto& p) { return !p->lent; });
  if (idle != own.end()) return **idle;
  own.push_back(std::make_unique<place>());
  own.back()->link = std::make_unique<connection>(loop_, sent_);
  return *own.back();
}

// Returns why it cannot be made ready; empty when it is.
task<std::string> pool::make_ready(place& p, time_point deadline) {
  if (!p.link->broken() && way_.leads_to(p.link->where(), instance_)) co_return std::string{};
  p.link->drop();
  if (p.was_connected) ++sent_.reconnects;
  std::string why = co_await way_.reach(loop_, *p.link, instance_, deadline);
  if (!why.empty()) co_return why;
  p.was_connected = true;
  const answer greeted = co_await p.link->query(greeting_, deadline);
  if (greeted.done()) co_return why;
  why = sentence(p.link->where(), "begin a session", greeted);
  p.link->drop();
  co_return why;
}

task<outcome<connection*>> pool::borrow(std::uint32_t client, time_point deadline) {
  place& p = idle_place(client);
  p.lent = true;
  const std::string why = co_await make_ready(p, deadline);
  if (why.empty()) co_return p.link.get();
  p.lent = false;
  co_return loop_.now() >= deadline ? refusal::deadline : refusal::unavailable;
}

void pool::give_back(std::uint32_t client, connection& c) {
  const auto taken = [&](const auto& p) { return p->link.get() == &c; };
  (*std::ranges::find_if(places_[client], taken))->lent = false;
}

void pool::quit() {
  for (auto& own : places_) {
    for (auto& p : own) p->link->quit();
  }
}

}  // namespace lockmark::mysql
