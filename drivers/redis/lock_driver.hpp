// The driver of every Redis lock: first contact, provenance, counters, cleaning up.
#pragma once

#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "drivers/redis/lock_session.hpp"

namespace lockmark::redis {

// lock_kind::topologies of locks that live in one deployment.
inline constexpr std::string_view one_deployment = "redis redis-sentinel redis-cluster";

// The differences between the locks.
struct recipe {
  std::unique_ptr<lock_session> (*make_session)(loop&, run_data&, const instance&);
  std::array<std::string_view, 4> scripts{};  // run_data::scripts; empty: no further one
  spread over = spread::one_place;
  // Of each instance to each place, in addition to one per client: for messages.
  std::uint32_t connections_beside = 0;
  // How many holds one command of its watchdog may renew; 0: it has no watchdog.
  std::size_t watchdog_batch = 0;
  // The names beside a lock on the server that do not expire by themselves, for wipe().
  std::vector<std::string> (*beside)(const std::string& lock, const option_values&) = nullptr;
};

// Throws usage_error for an invalid URL, or one with more places than the lock can use.
std::unique_ptr<driver> make_driver(const driver_setup& setup, const recipe& lock);

// lock_kind::make of a lock with this recipe.
template <const recipe& lock>
std::unique_ptr<driver> make_driver_of(const driver_setup& setup) {
  return make_driver(setup, lock);
}

template <class Session>
std::unique_ptr<lock_session> make_session(loop& l, run_data& run, const instance& who) {
  return std::make_unique<Session>(l, run, who);
}

// cmdstat_<name>:calls=<n>,... of INFO commandstats, and total_commands_processed of INFO stats.
server_counters parse_counters(std::string_view commandstats, std::string_view stats);

}  // namespace lockmark::redis
