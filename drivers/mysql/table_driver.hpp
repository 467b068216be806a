// What the locks on MySQL share: the run's table, the first contact, provenance and counters.
//
// A lock adds its sessions. Works on MySQL 8 and MariaDB 10.3 or later alike.
#pragma once

#include <memory>
#include <string>

#include "drivers/mysql/route.hpp"
#include "drivers/mysql/tables.hpp"

namespace lockmark::mysql {

// Where all of them run, as lock_kind::topologies wants it.
inline constexpr std::string_view every_topology = "mysql mysql-replicated mysql-galera";

// Which of the findings of a preflight concern a lock.
struct concerns {
  bool row_locks = false;            // its exclusion rests on InnoDB's locks of rows
  bool one_server = false;           // it excludes only clients of one and the same server
  bool control_connections = false;  // one more per instance, which ends waits
};

class table_driver : public driver {
 public:
  // Throws usage_error for a target or names that cannot be.
  table_driver(const driver_setup& setup, table rows, concerns about);

  task<description> prepare(loop& l, time_point deadline) override;
  task<std::vector<finding>> preflight(loop& l, demand load, time_point deadline) override;
  task<void> wipe(loop& l, time_point deadline) override;
  task<server_counters> counters(loop& l, time_point deadline) override;
  task<std::uint64_t> commits(loop& l, std::uint32_t key, time_point deadline) override;

 protected:
  // Shared by all sessions; it finds another server when this one is lost.
  route& way() const { return *way_; }
  const table& rows() const { return table_; }

 private:
  task<void> create(loop& l, connection& c, time_point deadline);
  task<description> describe(connection& c, time_point deadline);
  task<void> see_it_everywhere(loop& l, time_point deadline);

  std::unique_ptr<route> way_;
  table table_;
  concerns concerns_;
};

// What would spoil a run: made of what the server says of itself, see preflight.cpp.
task<std::vector<finding>> inspect(connection& c, const route& way, const table& rows,
                                   concerns about, demand load, time_point deadline);

}  // namespace lockmark::mysql
