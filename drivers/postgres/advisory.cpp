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
// Waiters queue in order, readers behind a writer that waits. lock_timeout ends a wait by itself.
// Who breaks the connection loses the lock, and only one server knows it: nothing of it is
// replicated. A session's lock does not survive a pooler that gives its clients another session for
// each transaction; a transaction's does.
//
// Advisory locks are counted by the server: who has one may take it again. For advisory_xact the
// count is kept here, because only the end of the transaction frees.
#include "drivers/postgres/bound_session.hpp"
#include "drivers/postgres/errors.hpp"
#include "drivers/postgres/lock_driver.hpp"
#include "drivers/postgres/options.hpp"
#include "drivers/postgres/postgres.hpp"

namespace lockmark::postgres {
namespace {

struct advisory_words {
  frame around;
  statement lock;
  statement unlock;
  bool waits = true;
  bool in_transaction = false;
  std::vector<std::string> ids;  // by request::key
};

class advisory_session final : public bound_session {
 public:
  advisory_session(const opening& o, const advisory_words& words)
      : bound_session(o, words.around), words_(words) {}

 private:
  task<outcome<grant>> take(connection& c, request r, unsigned depth) override;
  task<outcome<nothing>> give(connection& c, request r, unsigned depth) override;

  const advisory_words& words_;
};

task<outcome<grant>> advisory_session::take(connection& c, request r, unsigned depth) {
  if (words_.in_transaction && depth > 0) co_return grant{};
  const step lock = execution(words_.lock, words_.ids[r.key]);
  send_lock(c, r, lock, words_.in_transaction, words_.waits);
  const answer a = co_await c.take(lock_answer_by(r));
  outcome<grant> end = grant{};
  if (!a.done()) {
    end = failed(c, a, words_.waits, "take an advisory lock");
  } else if (const row said = a.at(0, 1); !words_.waits && !said.truth(0)) {
    end = refusal::busy;
  }
  if (end.done() || !words_.in_transaction) co_return end;
  co_return co_await roll_back(c, r, end);
}

task<outcome<nothing>> advisory_session::give(connection& c, request r, unsigned depth) {
  if (words_.in_transaction) {
    if (depth > 0) co_return nothing{};
    co_return co_await commit(c, r);
  }
  c.send(execution(words_.unlock, words_.ids[r.key]));
  const answer a = co_await c.take(r.answer_by());
  if (!a.done()) {
    c.drop();  // the server frees it when it notices
    co_return a.unknown.value_or(doubt::connection_lost);
  }
  if (!a.at(0, 1).truth(0)) co_return refusal::not_owner;
  co_return nothing{};
}

// `suffix`: of the functions' names.
std::unique_ptr<driver> make_advisory(const driver_setup& setup, std::string_view suffix,
                                      bool in_transaction) {
  const auto words = std::make_shared<advisory_words>();
  words->waits = setup.options.at("wait") == "yes";
  words->in_transaction = in_transaction;
  words->ids = advisory_ids(setup.run_names);
  words->lock = {"lock", fmt::format("SELECT pg_{}advisory{}($1::bigint)",
                                     words->waits ? "" : "try_", suffix)};
  words->unlock = {"unlock", fmt::format("SELECT pg_advisory_un{}($1::bigint)", suffix.substr(1))};
  greeting hello{.settings = {no_statement_timeout},
                 .prepared = {&words->around.limit, &words->lock}};
  if (in_transaction) {
    const frame& f = words->around;
    hello.prepared.insert(hello.prepared.end(), {&f.begin, &f.commit, &f.rollback});
  } else {
    hello.prepared.push_back(&words->unlock);
  }
  return std::make_unique<lock_driver>(
      setup, layout{.suffix = "advisory", .columns = "", .exists = false},
      concerns{.session_locks = !in_transaction, .transactions = in_transaction, .ids = words->ids},
      std::move(hello),
      [words](const opening& o) { return std::make_unique<advisory_session>(o, *words); });
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
      .options = {wait_option},
      .make = [](const driver_setup& setup) { return make_advisory(setup, "_xact_lock", true); },
  };
}

}  // namespace lockmark::postgres
