// Which of a target's servers work is done at, and how one gets there.
//
// One of a driver's, shared by its sessions and threads: an instance that finds another server
// takes the others along, since locks held at different servers exclude nobody.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "drivers/mysql/connection.hpp"

namespace lockmark::mysql {

// Whether there is a connection to a server that is fit.
struct reached {
  std::string why;        // a sentence about each server; empty: there is one
  bool for_good = false;  // all of them refused the login in a way that no later one can better

  bool failed() const { return !why.empty(); }
};

class route {
 public:
  explicit route(servers all);

  const std::vector<endpoint>& hosts() const { return all_.hosts; }
  bool galera() const { return all_.galera; }
  bool all_write() const { return all_.all_write; }

  // The server at which an instance works as far as is known.
  const endpoint& at(std::uint32_t instance) const;
  bool leads_to(const endpoint& where, std::uint32_t instance) const {
    return &at(instance) == &where;
  }

  // Connects to the server that can be written to: the known one, or the first of the others that
  // answers and is fit. Each gets its share of the time. REQUIRES: not connected.
  task<reached> reach(loop& l, connection& c, std::uint32_t instance, time_point deadline);

 private:
  std::atomic<std::size_t>& place(std::uint32_t instance) {
    return places_[instance % places_.size()];
  }
  task<reached> try_one(connection& c, const endpoint& where, time_point deadline);

  const servers all_;
  std::vector<std::atomic<std::size_t>> places_;  // indices of hosts; instances take them in turn
};

// Whether the value of @@read_only says so.
bool is_read_only(std::string_view value);

// As reach() for instance 0; throws no_server with the sentence.
task<void> reach_or_throw(loop& l, connection& c, route& r, time_point deadline);

}  // namespace lockmark::mysql
