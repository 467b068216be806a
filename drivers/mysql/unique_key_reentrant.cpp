// mysql/unique_key_reentrant: the same with an owner and a count of acquisitions.
//
// acquire   INSERT INTO lockmark_<run>_unique_key_reentrant (name, owner, depth, taken_at)
//           VALUES ('<key>', '<owner>', 1, UTC_TIMESTAMP(6))
//           duplicate: UPDATE ... SET depth=depth+1 WHERE name='<key>' AND owner='<owner>'
// release   DELETE FROM ... WHERE name='<key>' AND owner='<owner>' AND depth=1
//           none: UPDATE ... SET depth=depth-1 WHERE name='<key>' AND owner='<owner>'
// sweep     DELETE FROM ... WHERE taken_at < UTC_TIMESTAMP(6) - INTERVAL <sweep>
//
// Only the owner frees the row. The sweeper still takes it from a holder that needs longer than it
// allows, counted from the first acquisition. Autocommit is on.
#include <fmt/core.h>

#include <atomic>

#include "drivers/mysql/autocommit_pool.hpp"
#include "drivers/mysql/errors.hpp"
#include "drivers/mysql/mysql.hpp"
#include "drivers/mysql/sweeper.hpp"
#include "drivers/mysql/table_driver.hpp"

namespace lockmark::mysql {
namespace {

class reentrant_session final : public session {
 public:
  reentrant_session(loop& l, route& way, const table& rows, const instance& who,
                    std::optional<duration> sweep, bool sweeps)
      : loop_(l), rows_(rows), id_(who.id), sweep_(sweep), statements_(l, way, who) {
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
  std::string owner(request r) const { return literal(owner_name(id_, r.client)); }
  std::string mine(request r) const {
    return fmt::format("{} AND owner={}", rows_.where(r.key), owner(r));
  }
  task<outcome<grant>> enter_again(request r);

  loop& loop_;
  const table& rows_;
  const std::string id_;
  const std::optional<duration> sweep_;
  autocommit_pool statements_;
  std::optional<sweeper> sweeper_;  // one session of each process does it
};

task<outcome<grant>> reentrant_session::acquire(request r) {
  const time_point asked = loop_.now();
  std::string sql = fmt::format(
      "INSERT INTO {} (name, owner, depth, taken_at) VALUES ({}, {}, 1, UTC_TIMESTAMP(6))",
      rows_.name(), rows_.key(r.key), owner(r));
  const outcome<answer> end = co_await statements_.ask(r, std::move(sql), "insert a key's row");
  if (!end.done()) co_return end.without_value<grant>();
  if (end.value().error == error_number::duplicate_key) co_return co_await enter_again(r);
  co_return grant{.valid_until = sweep_ ? asked + *sweep_ : time_point::max()};
}

task<outcome<grant>> reentrant_session::enter_again(request r) {
  std::string sql = fmt::format("UPDATE {} SET depth=depth+1{}", rows_.name(), mine(r));
  const outcome<answer> end = co_await statements_.ask(r, std::move(sql), "count an acquisition");
  if (end.refused(refusal::deadline)) co_return refusal::busy;
  if (!end.done()) co_return end.without_value<grant>();
  if (end.value().affected == 0) co_return refusal::busy;
  // When the first acquisition was, and with it the sweeper's limit, is not known here.
  co_return grant{};
}

task<outcome<nothing>> reentrant_session::release(request r) {
  std::string last = fmt::format("DELETE FROM {}{} AND depth=1", rows_.name(), mine(r));
  outcome<answer> end = co_await statements_.ask(r, std::move(last), "delete a key's row");
  if (end.done() && end.value().affected == 0) {
    std::string inner = fmt::format("UPDATE {} SET depth=depth-1{}", rows_.name(), mine(r));
    end = co_await statements_.ask(r, std::move(inner), "count a release");
  }
  if (end.refused(refusal::busy)) co_return refusal::unavailable;
  if (!end.done()) co_return end.without_value<nothing>();
  if (end.value().affected == 0) co_return refusal::not_owner;
  co_return nothing{};
}

class reentrant_driver final : public table_driver {
 public:
  explicit reentrant_driver(const driver_setup& setup)
      : table_driver(setup,
                     table{setup.run_names,
                           {.suffix = "unique_key_reentrant",
                            .columns = ", owner VARBINARY(191) NOT NULL, depth INT UNSIGNED NOT "
                                       "NULL, taken_at DATETIME(6) NOT NULL",
                            .rows_first = false}},
                     {}),
        sweep_(read_sweep(setup.options.at("sweep"))) {}

  task<std::unique_ptr<session>> open(loop& l, instance who, time_point deadline) override {
    const bool first = !swept_.test_and_set();
    auto s = std::make_unique<reentrant_session>(l, way(), rows(), who, sweep_, first);
    co_await s->connect(deadline);
    co_return s;
  }

 private:
  const std::optional<duration> sweep_;
  std::atomic_flag swept_;  // a session has been told to sweep
};

}  // namespace

lock_kind unique_key_reentrant() {
  return {
      .name = "mysql/unique_key_reentrant",
      .summary =
          "a row inserted under a unique key, with its owner and a count; a sweeper takes it "
          "from who holds it for too long",
      .has = feature::reentrant,
      .promises = safety::best_effort,
      .topologies = every_topology,
      .algorithm = "INSERT or UPDATE of a count, DELETE, a scheduled DELETE of old rows",
      .options = {{.name = "sweep",
                   .values = "a duration as 30s or 500ms; off",
                   .preset = "30s",
                   .help = "rows older than this are deleted, held or not",
                   .accepts = accepts_sweep}},
      .make = [](const driver_setup& setup) -> std::unique_ptr<driver> {
        return std::make_unique<reentrant_driver>(setup);
      },
  };
}

}  // namespace lockmark::mysql
