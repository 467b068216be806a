// postgres/lease_row: a row with a time until which it is locked, by the server's clock, and a
// token from a sequence. ShedLock's statement for PostgreSQL, with the token of pglock.
//
// acquire   INSERT INTO lockmark_<run>_lease_row (name, lock_until, locked_at, locked_by, token)
//           VALUES ('<key>', now() + <lease>, now(), '<owner>', nextval(<sequence>))
//           ON CONFLICT (name) DO UPDATE SET lock_until = excluded.lock_until, locked_at = now(),
//           locked_by = excluded.locked_by, token = nextval(<sequence>)
//           WHERE lock_until <= now() RETURNING token
// renew     UPDATE ... SET lock_until = now() + <lease>
//           WHERE name AND locked_by AND lock_until > now() RETURNING token
// release   UPDATE ... SET lock_until = now() WHERE name AND locked_by AND lock_until > now()
//
// Each is a transaction of its own. The update draws its token while it has the row, so that a
// key's tokens grow in the order of its grants: those that VALUES drew before may be older than the
// row. The row stays; a holder whose time is over is refused as not owner. ShedLock itself may use
// the same table, and leaves the token alone.
#include <fmt/core.h>

#include "drivers/postgres/errors.hpp"
#include "drivers/postgres/lock_driver.hpp"
#include "drivers/postgres/options.hpp"
#include "drivers/postgres/postgres.hpp"

namespace lockmark::postgres {
namespace {

struct lease_words {
  explicit lease_words(const table& t);

  table rows;
  statement acquire;
  statement renew;
  statement release;
};

constexpr std::string_view lease_end = "now() + $3 * interval '1 microsecond'";

lease_words::lease_words(const table& t) : rows(t) {
  const std::string& name = rows.name();
  acquire = {"acquire",
             fmt::format("INSERT INTO {0} AS held (name, lock_until, locked_at, locked_by, token) "
                         "VALUES ($1, {1}, now(), $2, nextval('{2}')) ON CONFLICT (name) DO UPDATE "
                         "SET lock_until = excluded.lock_until, locked_at = now(), "
                         "locked_by = excluded.locked_by, token = nextval('{2}') WHERE "
                         "held.lock_until <= now() RETURNING token",
                         name, lease_end, rows.sequence())};
  renew = {"renew", fmt::format("UPDATE {} SET lock_until = {} WHERE name = $1 AND locked_by = $2 "
                                "AND lock_until > now() RETURNING token",
                                name, lease_end)};
  release = {"release", fmt::format("UPDATE {} SET lock_until = now() WHERE name = $1 "
                                    "AND locked_by = $2 AND lock_until > now()",
                                    name)};
}

class lease_session final : public lock_session {
 public:
  lease_session(const opening& o, const lease_words& words) : lock_session(o), words_(words) {}

  task<outcome<grant>> acquire(request r) override {
    return hold(r, words_.acquire, "take a lease", refusal::busy);
  }
  task<outcome<grant>> renew(request r) override {
    return hold(r, words_.renew, "renew a lease", refusal::not_owner);
  }
  task<outcome<nothing>> release(request r) override {
    return change(r, execution(words_.release, words_.rows.key(r.key), owner(r)), "end a lease",
                  refusal::not_owner);
  }

 private:
  task<outcome<grant>> hold(request r, const statement& what, std::string_view doing,
                            refusal otherwise);

  const lease_words& words_;
};

// Granted if a row was changed; the time counts from before the server was asked.
task<outcome<grant>> lease_session::hold(request r, const statement& what, std::string_view doing,
                                         refusal otherwise) {
  const time_point until = loop_.now() + r.lease;
  const std::string lease_us = fmt::format("{}", r.lease / std::chrono::microseconds{1});
  const step s = execution(what, words_.rows.key(r.key), owner(r), lease_us);
  const outcome<answer> end = co_await ask(r, s, doing);
  if (!end.done()) co_return end.without_value<grant>();
  if (end.value().empty()) co_return otherwise;
  co_return grant{.token = end.value().at(0, 1).number(0), .valid_until = until};
}

}  // namespace

lock_kind lease_row() {
  return {
      .name = "postgres/lease_row",
      .summary =
          "a row with a time until which it is locked, by the server's clock, and a token "
          "from a sequence",
      .has = feature::lease | feature::renewable | feature::fencing_token,
      .promises = safety::lease_and_token,
      .topologies = every_topology,
      .algorithm = "ShedLock's INSERT ... ON CONFLICT DO UPDATE, pglock's sequence",
      .cost = {2, 2},
      .options = {commit_option},
      .make = [](const driver_setup& setup) -> std::unique_ptr<driver> {
        const layout how{.suffix = "lease_row",
                         .columns =
                             ", lock_until timestamptz NOT NULL, locked_at timestamptz NOT NULL, "
                             "locked_by text NOT NULL, token bigint NOT NULL DEFAULT 0",
                         .rows_first = false,
                         .has_tokens = true};
        const auto words = std::make_shared<lease_words>(table{setup.run_names, how});
        greeting hello{.settings = writing_settings(setup.options),
                       .prepared = {&words->acquire, &words->renew, &words->release}};
        return std::make_unique<lock_driver>(
            setup, how, concerns{.writes = true}, std::move(hello),
            [words](const opening& o) { return std::make_unique<lease_session>(o, *words); });
      },
  };
}

}  // namespace lockmark::postgres
