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

struct row_words {
  row_words(const driver_setup& setup, const table& t) : rows(t) {
    const std::string& wait = setup.options.at("wait");
    waits = wait == "yes";
    skips = wait == "skip_locked";
    lock = {"lock", fmt::format("SELECT 1 FROM {} WHERE name = $1 FOR UPDATE{}", rows.name(),
                                waits   ? ""
                                : skips ? " SKIP LOCKED"
                                        : " NOWAIT")};
  }

  table rows;
  frame around;
  statement lock;
  bool waits = true;
  bool skips = false;
};

class for_update_session final : public bound_session {
 public:
  for_update_session(const opening& o, const row_words& words)
      : bound_session(o, words.around), words_(words) {}

 private:
  task<outcome<grant>> take(connection& c, request r, unsigned depth) override;
  task<outcome<nothing>> give(connection& c, request r, unsigned depth) override {
    if (depth > 0) co_return nothing{};
    co_return co_await commit(c, r);
  }

  const row_words& words_;
};

task<outcome<grant>> for_update_session::take(connection& c, request r, unsigned depth) {
  if (depth > 0) co_return grant{};
  send_lock(c, r, execution(words_.lock, words_.rows.key(r.key)), true, words_.waits);
  const answer a = co_await c.take(lock_answer_by(r));
  if (!a.done()) {
    outcome<grant> why = failed(c, a, words_.waits, "lock a key's row");
    co_return co_await roll_back(c, r, why);
  }
  if (words_.skips && a.empty()) {
    outcome<grant> why = refusal::busy;
    co_return co_await roll_back(c, r, why);
  }
  expect_row(a);
  co_return grant{};
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
      .options = {{.name = "wait",
                   .values = "yes, nowait, skip_locked",
                   .preset = "yes",
                   .help = "whether the server keeps waiters; otherwise it tries once",
                   .accepts = is_one_of<"yes", "nowait", "skip_locked">},
                  commit_option},
      .make = [](const driver_setup& setup) -> std::unique_ptr<driver> {
        const layout how{.suffix = "for_update", .columns = ""};
        const auto words = std::make_shared<row_words>(setup, table{setup.run_names, how});
        const frame& f = words->around;
        greeting hello{.settings = writing_settings(setup.options),
                       .prepared = {&f.limit, &f.begin, &f.commit, &f.rollback, &words->lock}};
        return std::make_unique<lock_driver>(
            setup, how, concerns{.transactions = true, .writes = true}, std::move(hello),
            [words](const opening& o) { return std::make_unique<for_update_session>(o, *words); });
      },
  };
}

}  // namespace lockmark::postgres
