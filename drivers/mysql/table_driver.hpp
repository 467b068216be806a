// What the drivers of all locks on MySQL share: the run's table, the first contact, provenance and
// counters. A lock adds its sessions.
//
// Works on MySQL 8 and MariaDB 10.3 or later alike.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "drivers/mysql/table_session.hpp"

namespace lockmark::mysql {

// For lock_kind::topologies.
inline constexpr std::string_view every_topology = "mysql mysql-replicated mysql-galera";

// The findings of a preflight that concern a lock.
struct concerns {
  bool row_locks = false;            // its exclusion rests on InnoDB's locks of rows
  bool one_server = false;           // it excludes only clients of one and the same server
  bool control_connections = false;  // one more per instance, which ends waits
};

class table_driver : public driver {
 public:
  using maker = std::function<std::unique_ptr<table_session>(const opening&)>;

  // `make` makes the sessions. Throws usage_error for impossible targets or names.
  table_driver(const driver_setup& setup, layout how, concerns about, maker make);

  task<description> prepare(loop& l, time_point deadline) override;
  task<std::vector<finding>> preflight(loop& l, demand load, time_point deadline) override;
  task<void> wipe(loop& l, time_point deadline) override;
  task<std::unique_ptr<session>> open(loop& l, instance who, time_point deadline) override;
  task<server_counters> counters(loop& l, time_point deadline) override;
  task<std::vector<std::uint64_t>> commits(loop& l, time_point deadline) override;

 protected:
  const table& rows() const { return table_; }

 private:
  task<void> create(loop& l, connection& c, time_point deadline);
  task<description> describe(connection& c, time_point deadline);
  task<void> see_it_everywhere(loop& l, time_point deadline);

  table table_;
  std::unique_ptr<route> way_;  // shared by all sessions
  concerns concerns_;
  maker make_;
};

// Problems that would spoil a run, found in the server's own reports (preflight.cpp).
task<std::vector<finding>> inspect(connection& c, const route& way, const table& rows,
                                   concerns about, demand load, time_point deadline);

// What committed changes survive when the server's machine loses power, in a few words, by the
// settings that it told as "server.NAME"; empty: it did not tell them. A binary log, if there is
// one, counts as well: after a crash, what is not in it is rolled back.
std::string durability_of(const description& said);

}  // namespace lockmark::mysql
