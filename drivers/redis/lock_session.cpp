#include "drivers/redis/lock_session.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace lockmark::redis {

std::string lock_key(const std::string& run, const std::string& key) {
  return fmt::format("lockmark:{}:{}", run, key);
}

lock_session::lock_session(loop& l, run_data& run, const instance& who) : loop_(l), run_(run) {
  for (std::uint32_t i = 0; i < who.clients; ++i) {
    clients_.push_back(std::make_unique<connection>(l, run.where, sent_));
    owners_.push_back(fmt::format("{}:{}", who.id, i + 1));
  }
}

task<void> lock_session::connect(time_point deadline) {
  for (const auto& c : clients_) co_await c->open(deadline);
}

task<outcome<grant>> lock_session::renew(request) {
  throw std::logic_error("renew() was called on a lock without a lease");
  co_return refusal::not_owner;
}

task<void> lock_session::close() {
  for (const auto& c : clients_) c->close();
  co_return;
}

}  // namespace lockmark::redis
