// postgres/for_update: the row of a key is locked by SELECT ... FOR UPDATE, freed by COMMIT.
//
// acquire   BEGIN; SELECT 1 FROM lockmark_<run>_for_update WHERE name = '<key>' FOR UPDATE,
//           in one round trip, under lock_timeout; or with NOWAIT or SKIP LOCKED
// release   COMMIT
//
// A locked row is written (its xmax), so a COMMIT waits for the disk, unless synchronous_commit is
// off. Waiters do not queue strictly: who comes as the holder commits may be first. An attempt in
// vain ends with a ROLLBACK.
//
// A broken connection loses its lock: the server rolls back when it notices. Reentrancy is counted
// here, per session. Row locks are not replicated.
#include <fmt/core.h>

#include "drivers/postgres/bound_session.hpp"
#include "drivers/postgres/errors.hpp"
#include "drivers/postgres/lock_driver.hpp"
#include "drivers/postgres/options.hpp"
#include "drivers/postgres/postgres.hpp"

namespace lockmark::postgres {
namespace {

outcome<grant> is_row_locked(const answer& a) {
  expect_row(a);
  return grant{};
}
// No row: somebody has it.
outcome<grant> is_row_not_skipped(const answer& a) {
  if (a.empty()) return refusal::busy;
  return grant{};
}

std::shared_ptr<bound_lock> row_lock(const driver_setup& setup, const table& rows) {
  const auto how = std::make_shared<bound_lock>();
  const std::string& wait = setup.options.at("wait");
  how->waits = wait == "yes";
  how->in_transaction = true;
  how->values = setup.run_names.keys;
  const bool skips = wait == "skip_locked";
  how->lock = {"lock", fmt::format("SELECT 1 FROM {} WHERE name = $1 FOR UPDATE{}", rows.name(),
                                   how->waits ? ""
                                   : skips    ? " SKIP LOCKED"
                                              : " NOWAIT")};
  how->judge = skips ? is_row_not_skipped : is_row_locked;
  return how;
}

}  // namespace

lock_kind for_update() {
  return {
      .name = "postgres/for_update",
      .summary = "a row locked by SELECT ... FOR UPDATE in an open transaction",
      .has = feature::session_bound | feature::server_wait | feature::reentrant,
      .promises = safety::transaction,
      .topologies = every_topology,
      .algorithm = "BEGIN, SELECT ... FOR UPDATE under lock_timeout, COMMIT (row lock)",
      .cost = {3, 2},
      .options = {{.name = "wait",
                   .values = "yes, nowait, skip_locked",
                   .preset = "yes",
                   .help = "whether the server keeps waiters; otherwise it tries once",
                   .accepts = is_one_of<"yes", "nowait", "skip_locked">},
                  commit_option},
      .make = [](const driver_setup& setup) -> std::unique_ptr<driver> {
        const layout how{.suffix = "for_update", .columns = ""};
        const auto locks = row_lock(setup, table{setup.run_names, how});
        return std::make_unique<lock_driver>(
            setup, how, concerns{.transactions = true, .writes = true},
            greeting{.settings = writing_settings(setup.options), .prepared = locks->prepared()},
            [locks](const opening& o) { return std::make_unique<bound_session>(o, *locks); });
      },
  };
}

}  // namespace lockmark::postgres
