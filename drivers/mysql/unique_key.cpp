// mysql/unique_key: a row that can be inserted once, deleted to release.
//
// acquire   INSERT INTO lockmark_<run>_unique_key (name, taken_at)
//           VALUES ('<key>', UTC_TIMESTAMP(6))
// release   DELETE FROM lockmark_<run>_unique_key WHERE name='<key>'
// sweep     DELETE FROM ... WHERE taken_at < UTC_TIMESTAMP(6) - INTERVAL <sweep>
//
// The key's uniqueness lets one INSERT succeed. As described: nothing tells whose row it is, so any
// DELETE frees it; and a holder that takes longer than the sweeper allows loses it without a word,
// and then deletes its successor's row. Autocommit is on.
#include <fmt/core.h>

#include <atomic>

#include "drivers/mysql/autocommit_pool.hpp"
#include "drivers/mysql/errors.hpp"
#include "drivers/mysql/mysql.hpp"
#include "drivers/mysql/sweeper.hpp"
#include "drivers/mysql/table_driver.hpp"

namespace lockmark::mysql {
namespace {

class unique_key_session final : public session {
 public:
  unique_key_session(loop& l, route& way, const table& rows, const instance& who,
                     std::optional<duration> sweep, bool sweeps)
      : loop_(l), rows_(rows), sweep_(sweep), statements_(l, way, who) {
    if (sweep_ && sweeps) sweeper_.emplace(l, way, who, rows.name(), *sweep_);
  }

  task<void> connect(time_point deadline) {
    co_await statements_.open(deadline);
    if (sweeper_) sweeper_->start();
  }

  task<outcome<grant>> acquire(request r) override;
  task<outcome<grant>> renew(request) override { co_return refusal::not_owner; }
  task<outcome<nothing>> release(request r) override;
  bool alive() const override { return true; }  // rows outlive connections
  task<void> close() override {
    if (sweeper_) co_await sweeper_->stop();
    statements_.quit();
  }
  traffic sent() const override {
    traffic all = statements_.sent();
    if (sweeper_) all += sweeper_->sent();
    return all;
  }

 private:
  loop& loop_;
  const table& rows_;
  const std::optional<duration> sweep_;
  autocommit_pool statements_;
  std::optional<sweeper> sweeper_;  // one session of each process does it
};

task<outcome<grant>> unique_key_session::acquire(request r) {
  const time_point asked = loop_.now();
  std::string sql = fmt::format("INSERT INTO {} (name, taken_at) VALUES ({}, UTC_TIMESTAMP(6))",
                                rows_.name(), rows_.key(r.key));
  const outcome<answer> end = co_await statements_.ask(r, std::move(sql), "insert a key's row");
  if (!end.done()) co_return end.without_value<grant>();
  if (end.value().error == error_number::duplicate_key) co_return refusal::busy;
  co_return grant{.valid_until = sweep_ ? asked + *sweep_ : time_point::max()};
}

task<outcome<nothing>> unique_key_session::release(request r) {
  std::string sql = fmt::format("DELETE FROM {}{}", rows_.name(), rows_.where(r.key));
  const outcome<answer> end = co_await statements_.ask(r, std::move(sql), "delete a key's row");
  if (end.refused(refusal::busy)) co_return refusal::unavailable;
  if (!end.done()) co_return end.without_value<nothing>();
  if (end.value().affected == 0) co_return refusal::not_owner;
  co_return nothing{};
}

class unique_key_driver final : public table_driver {
 public:
  explicit unique_key_driver(const driver_setup& setup)
      : table_driver(setup,
                     table{setup.run_names,
                           {.suffix = "unique_key",
                            .columns = ", taken_at DATETIME(6) NOT NULL",
                            .rows_first = false}},
                     {}),
        sweep_(read_sweep(setup.options.at("sweep"))) {}

  task<std::unique_ptr<session>> open(loop& l, instance who, time_point deadline) override {
    const bool first = !swept_.test_and_set();
    auto s = std::make_unique<unique_key_session>(l, way(), rows(), who, sweep_, first);
    co_await s->connect(deadline);
    co_return s;
  }

 private:
  const std::optional<duration> sweep_;
  std::atomic_flag swept_;  // a session has been told to sweep
};

}  // namespace

// No feature::lease: the time limit is the option's, not the request's, and counts from the INSERT
// whatever the holder does.
lock_kind unique_key() {
  return {
      .name = "mysql/unique_key",
      .summary =
          "a row inserted under a unique key; anybody's DELETE frees it, and a sweeper takes "
          "it from who holds it for too long",
      .has = {},
      .promises = safety::none,
      .topologies = every_topology,
      .algorithm = "INSERT, DELETE, a scheduled DELETE of old rows",
      .options = {{.name = "sweep",
                   .values = "a duration as 30s or 500ms; off",
                   .preset = "30s",
                   .help = "rows older than this are deleted, held or not",
                   .accepts = accepts_sweep}},
      .make = [](const driver_setup& setup) -> std::unique_ptr<driver> {
        return std::make_unique<unique_key_driver>(setup);
      },
  };
}

}  // namespace lockmark::mysql
