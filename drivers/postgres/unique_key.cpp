// postgres/unique_key: a row that can be inserted once, deleted to release.
//
// acquire   INSERT INTO lockmark_<run>_unique_key (name, owner, taken_at)
//           VALUES ('<key>', '<owner>', now()) ON CONFLICT DO NOTHING
// release   DELETE FROM lockmark_<run>_unique_key WHERE name = '<key>' AND owner = '<owner>'
// sweep     DELETE FROM ... WHERE taken_at < now() - <sweep>
//
// The key's uniqueness lets only one INSERT succeed; ON CONFLICT spares the others an error, which
// the server would log. Only the owner frees the row, but the sweeper takes it from a holder that
// takes longer than it allows. Each statement is a transaction of its own.
#include <fmt/core.h>

#include <atomic>

#include "drivers/postgres/errors.hpp"
#include "drivers/postgres/lock_driver.hpp"
#include "drivers/postgres/options.hpp"
#include "drivers/postgres/postgres.hpp"
#include "drivers/postgres/sweeper.hpp"

namespace lockmark::postgres {
namespace {

struct unique_words {
  explicit unique_words(const driver_setup& setup, const table& t)
      : rows(t),
        insert{"insert", fmt::format("INSERT INTO {} (name, owner, taken_at) "
                                     "VALUES ($1, $2, now()) ON CONFLICT DO NOTHING",
                                     rows.name())},
        remove{"remove", fmt::format("DELETE FROM {} WHERE name = $1 AND owner = $2", rows.name())},
        sweep(read_sweep(setup.options.at("sweep"))) {}

  table rows;
  statement insert;
  statement remove;
  std::optional<duration> sweep;
  std::atomic_flag is_swept{};  // set: a session runs the process's sweeper
};

class unique_key_session final : public lock_session {
 public:
  unique_key_session(const opening& o, unique_words& words) : lock_session(o), words_(words) {
    if (words.sweep && !words.is_swept.test_and_set()) {
      sweeper_.emplace(o.l, o.way, words.rows.name(), *words.sweep);
    }
  }

  task<void> connect(time_point deadline) override {
    co_await lock_session::connect(deadline);
    if (sweeper_) sweeper_->start();
  }

  task<outcome<grant>> acquire(request r) override;
  task<outcome<nothing>> release(request r) override {
    return change(r, execution(words_.remove, words_.rows.key(r.key), owner(r)),
                  "delete a key's row", refusal::not_owner);
  }
  task<void> close() override {
    if (sweeper_) co_await sweeper_->stop();
    co_await lock_session::close();
  }
  traffic sent() const override {
    traffic all = lock_session::sent();
    if (sweeper_) all += sweeper_->sent();
    return all;
  }

 private:
  unique_words& words_;
  std::optional<sweeper> sweeper_;
};

task<outcome<grant>> unique_key_session::acquire(request r) {
  const time_point asked = loop_.now();
  const outcome<answer> end = co_await ask(
      r, execution(words_.insert, words_.rows.key(r.key), owner(r)), "insert a key's row");
  if (!end.done()) co_return end.without_value<grant>();
  if (end.value().affected() == 0) co_return refusal::busy;
  co_return grant{.valid_until = words_.sweep ? asked + *words_.sweep : time_point::max()};
}

}  // namespace

// No feature::lease: the time limit is an option, not the request's, and counts from the INSERT
// whatever the holder does.
lock_kind unique_key() {
  return {
      .name = "postgres/unique_key",
      .summary =
          "a row inserted under a unique key, with its owner; a sweeper takes it from who "
          "holds it for too long",
      .has = {},
      .promises = safety::best_effort,
      .topologies = every_topology,
      .algorithm = "INSERT ... ON CONFLICT DO NOTHING, DELETE, a scheduled DELETE of old rows",
      .cost = {2, 2},
      .options = {{.name = "sweep",
                   .values = "a duration as 30s or 500ms; off",
                   .preset = "30s",
                   .help = "rows older than this are deleted, held or not",
                   .accepts = accepts_sweep},
                  commit_option},
      .make = [](const driver_setup& setup) -> std::unique_ptr<driver> {
        const layout how{.suffix = "unique_key",
                         .columns = ", owner text NOT NULL, taken_at timestamptz NOT NULL",
                         .rows_first = false};
        const auto words = std::make_shared<unique_words>(setup, table{setup.run_names, how});
        greeting hello{.settings = writing_settings(setup.options),
                       .prepared = {&words->insert, &words->remove}};
        return std::make_unique<lock_driver>(
            setup, how, concerns{.writes = true}, std::move(hello),
            [words](const opening& o) { return std::make_unique<unique_key_session>(o, *words); });
      },
  };
}

}  // namespace lockmark::postgres
