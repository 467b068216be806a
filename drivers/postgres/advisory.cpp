// postgres/advisory, advisory_shared and advisory_xact: advisory locks, which live in the server's
// shared memory and touch no table and no disk.
//
// advisory (advisory_shared: ..._shared), of a session
// acquire   SELECT pg_advisory_lock(<id>), under lock_timeout; wait=nowait: pg_try_advisory_lock
// release   SELECT pg_advisory_unlock(<id>)
//
// advisory_xact, of a transaction
// acquire   BEGIN; SELECT pg_advisory_xact_lock(<id>), in one round trip
// release   COMMIT
//
// Waiters queue in order, readers behind a writer that waits. lock_timeout ends a wait; that may be
// reported although the session has just been granted the lock, so an attempt in vain ends with an
// unlock (advisory_xact: a ROLLBACK).
// Who breaks the connection loses the lock, and only one server knows it: nothing of it is
// replicated. A session's lock does not survive a pooler that gives its clients another session for
// each transaction; a transaction's does.
//
// Advisory locks are counted by the server: who has one may take it again. For advisory_xact the
// count is kept here, because only the end of the transaction frees.
#include <fmt/core.h>

#include "drivers/postgres/bound_session.hpp"
#include "drivers/postgres/lock_driver.hpp"
#include "drivers/postgres/options.hpp"
#include "drivers/postgres/postgres.hpp"

namespace lockmark::postgres {
namespace {

// The functions without "try" answer with an empty text.
outcome<grant> is_taken(const answer& a) {
  a.at(0, 1);
  return grant{};
}
outcome<grant> is_taken_at_once(const answer& a) {
  if (a.at(0, 1).truth(0)) return grant{};
  return refusal::busy;
}

// `suffix`: of the functions' names.
std::unique_ptr<driver> make_advisory(const driver_setup& setup, std::string_view suffix,
                                      bool in_transaction) {
  const auto how = std::make_shared<bound_lock>();
  how->waits = setup.options.at("wait") == "yes";
  how->in_transaction = in_transaction;
  how->values = advisory_ids(setup.run_names);
  how->lock = {"lock",
               fmt::format("SELECT pg_{}advisory{}($1::bigint)", how->waits ? "" : "try_", suffix)};
  how->unlock = {"unlock", fmt::format("SELECT pg_advisory_un{}($1::bigint)", suffix.substr(1))};
  how->judge = how->waits ? is_taken : is_taken_at_once;
  return std::make_unique<lock_driver>(
      setup, layout{.suffix = "advisory", .columns = "", .exists = false},
      concerns{
          .session_locks = !in_transaction, .transactions = in_transaction, .ids = how->values},
      greeting{.settings = {no_statement_timeout}, .prepared = how->prepared()},
      [how](const opening& o) { return std::make_unique<bound_session>(o, *how); });
}

constexpr lock_option wait_option{
    .name = "wait",
    .values = "yes, nowait",
    .preset = "yes",
    .help = "whether the server keeps waiters; otherwise it tries once",
    .accepts = is_one_of<"yes", "nowait">};

}  // namespace

lock_kind advisory() {
  return {
      .name = "postgres/advisory",
      .summary =
          "a session's advisory lock; known to one server only, and lost behind a pooler "
          "that shares sessions",
      .has = feature::session_bound | feature::server_wait | feature::fair | feature::reentrant,
      .promises = safety::session,
      .topologies = unpooled_topologies,
      .algorithm = "pg_advisory_lock under lock_timeout, pg_advisory_unlock",
      .cost = {2, 2},
      .options = {wait_option},
      .make = [](const driver_setup& setup) { return make_advisory(setup, "_lock", false); },
      .readers = "postgres/advisory_shared",
  };
}

lock_kind advisory_shared() {
  return {
      .name = "postgres/advisory_shared",
      .summary = "a session's advisory lock that others may share; postgres/advisory excludes them",
      .has = feature::session_bound | feature::server_wait | feature::fair | feature::reentrant |
             feature::shared,
      .promises = safety::session,
      .topologies = unpooled_topologies,
      .algorithm = "pg_advisory_lock_shared under lock_timeout, pg_advisory_unlock_shared",
      .cost = {2, 2},
      .options = {wait_option},
      .make = [](const driver_setup& setup) { return make_advisory(setup, "_lock_shared", false); },
      .holders = [](const option_values&) -> std::uint32_t { return 0; },
  };
}

lock_kind advisory_xact() {
  return {
      .name = "postgres/advisory_xact",
      .summary = "an advisory lock of an open transaction; also behind a transaction pooler",
      .has = feature::session_bound | feature::server_wait | feature::fair | feature::reentrant,
      .promises = safety::transaction,
      .topologies = every_topology,
      .algorithm = "BEGIN, pg_advisory_xact_lock under lock_timeout, COMMIT",
      .cost = {3, 2},
      .options = {wait_option},
      .make = [](const driver_setup& setup) { return make_advisory(setup, "_xact_lock", true); },
  };
}

}  // namespace lockmark::postgres
