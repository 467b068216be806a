// The choice of one of a target's servers, and the way to reach it.
//
// Each driver has one, shared by its sessions and threads: a session that finds another server
// takes the others along, since locks held at different servers exclude nobody.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "drivers/postgres/connection.hpp"

namespace lockmark::postgres {

// Whether there is a connection to a usable server.
struct reached {
  std::string why;        // a sentence about each server; empty: there is a connection
  bool for_good = false;  // all refused the login, and will refuse later ones too

  bool failed() const { return !why.empty(); }
};

class route {
 public:
  explicit route(std::vector<endpoint> hosts) : hosts_(std::move(hosts)) {}

  const std::vector<endpoint>& hosts() const { return hosts_; }

  // The last known server.
  const endpoint& at() const { return hosts_[place_]; }
  bool leads_to(const endpoint& where) const { return &at() == &where; }

  // Connects to a writable server: the known one, or the first of the others that answers and can
  // be written to. Each gets a share of the time. REQUIRES: not connected.
  task<reached> reach(loop& l, connection& c, time_point deadline);

 private:
  const std::vector<endpoint> hosts_;
  std::atomic<std::size_t> place_{0};  // index of hosts_
};

// Like reach(), but throws no_server with the sentence.
task<void> reach_or_throw(loop& l, connection& c, route& r, time_point deadline);

}  // namespace lockmark::postgres
