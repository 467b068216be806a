// The choice of one of a target's servers, and the way to reach it.
//
// Each driver has one, shared by its sessions and threads: an instance that finds another server
// takes the others along, since locks held at different servers exclude nobody.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "drivers/mysql/connection.hpp"

namespace lockmark::mysql {

// Whether there is a connection to a usable server.
struct reached {
  std::string why;        // a sentence about each server; empty: there is a connection
  bool for_good = false;  // all refused the login, and will refuse later ones too

  bool failed() const { return !why.empty(); }
};

class route {
 public:
  // `table`: with a column `name`, for a row that is there for a moment when a client moves to
  // another Galera node; quoted. Empty: the locks have none.
  explicit route(servers all, std::string table = "");

  const std::vector<endpoint>& hosts() const { return all_.hosts; }
  bool galera() const { return all_.galera; }
  bool all_write() const { return all_.all_write; }

  // The last known server of an instance.
  const endpoint& at(std::uint32_t instance) const;
  bool leads_to(const endpoint& where, std::uint32_t instance) const {
    return &at(instance) == &where;
  }

  // Connects to a writable server: the known one, or the first of the others that answers and can
  // be written to. Each gets a share of the time. REQUIRES: not connected.
  task<reached> reach(loop& l, connection& c, std::uint32_t instance, time_point deadline);

 private:
  std::atomic<std::size_t>& place(std::uint32_t instance) {
    return places_[instance % places_.size()];
  }
  // `has_moved`: another server was tried in vain before.
  task<reached> try_one(connection& c, const endpoint& where, bool has_moved, time_point deadline);

  const servers all_;
  const std::string table_;
  std::vector<std::atomic<std::size_t>> places_;  // indices of hosts; instances take turns
};

// The statements of a transaction that writes a row which is there for a moment, under a name that
// nobody else has.
std::vector<std::string> passing_row(const std::string& table);

// Whether this value of @@read_only means read-only.
bool is_read_only(std::string_view value);

// Like reach() for instance 0, but throws no_server with the sentence.
task<void> reach_or_throw(loop& l, connection& c, route& r, time_point deadline);

}  // namespace lockmark::mysql
