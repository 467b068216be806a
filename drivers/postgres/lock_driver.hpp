// What the drivers of all locks on PostgreSQL share: the run's table, the first contact, provenance
// and counters. A lock adds its sessions.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "drivers/postgres/lock_session.hpp"
#include "drivers/postgres/tables.hpp"

namespace lockmark::postgres {

// For lock_kind::topologies.
inline constexpr std::string_view every_topology =
    "postgres postgres-replicated postgres-pgbouncer";
inline constexpr std::string_view unpooled_topologies = "postgres postgres-replicated";

// A limit that the server has for all statements would end waits.
inline constexpr const char* no_statement_timeout = "SET statement_timeout = 0";

// The settings of sessions that write; see commit_option.
std::vector<std::string> writing_settings(const option_values& options);

// What preflight and wipe have to know of a lock.
struct concerns {
  bool session_locks = false;         // advisory locks of sessions
  bool transactions = false;          // a hold is an open transaction
  bool writes = false;                // a grant or a release is a commit
  std::vector<std::string> ids = {};  // of its advisory locks
};

class lock_driver : public driver {
 public:
  using maker = std::function<std::unique_ptr<lock_session>(const opening&)>;

  // `make` makes the sessions, and keeps the statements of `hello` alive. Throws usage_error for
  // impossible targets or names.
  lock_driver(const driver_setup& setup, layout how, concerns about, greeting hello, maker make);

  task<description> prepare(loop& l, time_point deadline) override;
  task<std::vector<finding>> preflight(loop& l, demand load, time_point deadline) override;
  task<void> wipe(loop& l, time_point deadline) override;
  task<std::unique_ptr<session>> open(loop& l, instance who, time_point deadline) override;
  task<server_counters> counters(loop& l, time_point deadline) override;

 private:
  task<void> create(loop& l, connection& c, time_point deadline);
  task<description> describe(connection& c, time_point deadline);
  task<void> end_holders(loop& l, connection& c, time_point deadline);

  std::unique_ptr<route> way_;  // shared by all sessions
  table table_;
  concerns concerns_;
  greeting hello_;
  maker make_;
};

// Problems that would spoil a run, found in the server's own reports, and by trying
// (preflight.cpp).
task<std::vector<finding>> inspect(loop& l, connection& c, route& way, const concerns& about,
                                   demand load, time_point deadline);

}  // namespace lockmark::postgres
