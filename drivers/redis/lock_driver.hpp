// The driver of every Redis lock: first contact, provenance, counters, cleaning up.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "drivers/redis/lock_session.hpp"

namespace lockmark::redis {

// What makes one lock of the driver.
struct recipe {
  std::vector<std::string_view> scripts;  // run_data::scripts, in this order
  std::unique_ptr<lock_session> (*make_session)(loop&, run_data&, const instance&);
  spread over = spread::one_place;
  // Of each instance to each place, besides one for each client: for messages.
  std::uint32_t connections_beside = 0;
  // How many holds its watchdog renews by one command where it may; 0: it has none.
  std::size_t watchdog_batch = 0;
  // The names of what stands beside a lock on the server and does not expire by itself, for wipe().
  std::vector<std::string> (*beside)(const std::string& lock, const option_values&) = nullptr;
};

// Throws usage_error for a URL that is none, or has more places than the lock can use.
std::unique_ptr<driver> make_driver(const driver_setup& setup, const recipe& lock);

template <class Session>
std::unique_ptr<lock_session> make_session(loop& l, run_data& run, const instance& who) {
  return std::make_unique<Session>(l, run, who);
}

// "<name>:<number>" lines of INFO, as ("redis_version", "7.0.15").
std::string_view info_field(std::string_view info, std::string_view name);

// cmdstat_<name>:calls=<n>,... of INFO commandstats, and total_commands_processed of INFO stats.
server_counters parse_counters(std::string_view commandstats, std::string_view stats);

}  // namespace lockmark::redis
