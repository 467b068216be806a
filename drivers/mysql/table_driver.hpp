// What the locks on MySQL share: the run's table, the first contact, provenance and counters.
//
// A lock adds its sessions. Works on MySQL 8 and MariaDB 10.3 or later alike.
#pragma once

#include <string>

#include "drivers/mysql/connection.hpp"
#include "drivers/mysql/tables.hpp"

namespace lockmark::mysql {

class table_driver : public driver {
 public:
  // Throws usage_error for a target or names that cannot be.
  table_driver(const driver_setup& setup, std::string_view suffix, std::string columns);

  task<description> prepare(loop& l, time_point deadline) override;
  task<void> wipe(loop& l, time_point deadline) override;
  task<server_counters> counters(loop& l, time_point deadline) override;
  task<std::uint64_t> commits(loop& l, std::uint32_t key, time_point deadline) override;

 protected:
  const endpoint& where() const { return where_; }
  const table& rows() const { return table_; }

 private:
  task<description> describe(connection& c, time_point deadline);

  endpoint where_;
  table table_;
};

}  // namespace lockmark::mysql
