#include "drivers/mysql/pool.hpp"

#include <algorithm>

#include "drivers/mysql/errors.hpp"
#include "harness/async/scope.hpp"

namespace lockmark::mysql {
namespace {

// So many logins at a time: fewer than the smallest queue that servers keep for new connections.
constexpr std::uint32_t logins_at_once = 16;

}  // namespace

pool::pool(loop& l, const endpoint& where, std::string greeting, std::uint32_t clients)
    : loop_(l), where_(where), greeting_(std::move(greeting)), places_(clients) {}

task<void> pool::fill(time_point deadline) {
  const auto clients = static_cast<std::uint32_t>(places_.size());
  const std::uint32_t lanes = std::min(logins_at_once, clients);
  scope logins{loop_};
  for (std::uint32_t i = 0; i < lanes; ++i) logins.spawn(fill_every(lanes, i, deadline));
  co_await logins.join();
}

task<void> pool::fill_every(std::uint32_t stride, std::uint32_t first, time_point deadline) {
  for (std::uint32_t client = first; client < places_.size(); client += stride) {
    const connect_failure failure = co_await make_ready(idle_place(client), deadline);
    if (failure.error != 0) throw no_server(sentence(where_, failure));
  }
}

pool::place& pool::idle_place(std::uint32_t client) {
  auto& own = places_[client];
  const auto idle = std::ranges::find_if(own, [](const auto& p) { return !p->lent; });
  if (idle != own.end()) return **idle;
  own.push_back(std::make_unique<place>());
  own.back()->link = std::make_unique<connection>(loop_, where_, sent_);
  return *own.back();
}

task<connect_failure> pool::make_ready(place& p, time_point deadline) {
  connect_failure failure;
  if (!p.link->broken()) co_return failure;
  p.link->drop();
  if (p.was_connected) ++sent_.reconnects;
  failure = co_await p.link->connect(deadline);
  if (failure.error != 0) co_return failure;
  p.was_connected = true;
  const answer greeted = co_await p.link->query(greeting_, deadline);
  if (greeted.done()) co_return failure;
  p.link->drop();
  failure.error = greeted.unknown == doubt::deadline ? connect_failure::timed_out : greeted.error;
  failure.text = greeted.text;
  co_return failure;
}

task<outcome<connection*>> pool::borrow(std::uint32_t client, time_point deadline) {
  place& p = idle_place(client);
  p.lent = true;
  const connect_failure failure = co_await make_ready(p, deadline);
  if (failure.error == 0) co_return p.link.get();
  p.lent = false;
  co_return failure.error == connect_failure::timed_out ? refusal::deadline : refusal::unavailable;
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
