// mysql/unique_key and mysql/unique_key_reentrant: a row that can be inserted once, deleted to
// release.
//
// unique_key
// acquire   INSERT INTO lockmark_<run>_unique_key (name, taken_at)
//           VALUES ('<key>', UTC_TIMESTAMP(6))
// release   DELETE FROM lockmark_<run>_unique_key WHERE name='<key>'
//
// unique_key_reentrant: the same with an owner and a count of acquisitions
// acquire   INSERT INTO lockmark_<run>_unique_key_reentrant (name, owner, depth, taken_at)
//           VALUES ('<key>', '<owner>', 1, UTC_TIMESTAMP(6))
//           duplicate: UPDATE ... SET depth=depth+1 WHERE name='<key>' AND owner='<owner>'
// release   DELETE FROM ... WHERE name='<key>' AND owner='<owner>' AND depth=1
//           none: UPDATE ... SET depth=depth-1 WHERE name='<key>' AND owner='<owner>'
//
// sweep     DELETE FROM ... WHERE taken_at < UTC_TIMESTAMP(6) - INTERVAL <sweep>
//
// With `key=secondary` the table is as applications have them, lockedOrder of one article:
// id BIGINT AUTO_INCREMENT PRIMARY KEY, name UNIQUE. Each INSERT in vain burns an id, and InnoDB
// locks the entries of two indexes: the name's, and through it the row's.
//
// The key's uniqueness lets only one INSERT succeed. Without an owner any DELETE frees the row, and
// a holder that takes longer than the sweeper allows loses it without notice and then deletes its
// successor's row. With an owner, only the owner frees the row; the sweeper still takes it from a
// slow holder, counted from the first acquisition. Autocommit is on.
#include <fmt/core.h>

#include <atomic>

#include "drivers/mysql/errors.hpp"
#include "drivers/mysql/mysql.hpp"
#include "drivers/mysql/options.hpp"
#include "drivers/mysql/sweeper.hpp"
#include "drivers/mysql/table_driver.hpp"

namespace lockmark::mysql {
namespace {

class unique_key_session : public table_session {
 public:
  // `sweeps`: this session runs the process's sweeper, if there is one.
  unique_key_session(const opening& o, std::optional<duration> sweep, bool sweeps)
      : table_session(o), sweep_(sweep) {
    if (sweep_ && sweeps) sweeper_.emplace(o.l, o.way, o.who, o.rows.name(), *sweep_);
  }

  task<void> connect(time_point deadline) override {
    co_await table_session::connect(deadline);
    if (sweeper_) sweeper_->start();
  }

  task<outcome<grant>> acquire(request r) override;
  task<outcome<nothing>> release(request r) override;
  task<void> close() override {
    if (sweeper_) co_await sweeper_->stop();
    co_await table_session::close();
  }
  traffic sent() const override {
    traffic all = table_session::sent();
    if (sweeper_) all += sweeper_->sent();
    return all;
  }

 private:
  virtual std::string insert(request r) const {
    return fmt::format("INSERT INTO {} (name, taken_at) VALUES ({}, UTC_TIMESTAMP(6))",
                       rows_.name(), rows_.key(r.key));
  }
  // The key has a row already.
  virtual task<outcome<grant>> enter_again(request) { co_return refusal::busy; }

  const std::optional<duration> sweep_;
  std::optional<sweeper> sweeper_;
};

task<outcome<grant>> unique_key_session::acquire(request r) {
  const time_point asked = loop_.now();
  std::string sql = insert(r);
  const outcome<answer> end = co_await ask(r, std::move(sql), "insert a key's row");
  if (!end.done()) co_return end.without_value<grant>();
  if (end.value().error == error_number::duplicate_key) co_return co_await enter_again(r);
  co_return grant{.valid_until = sweep_ ? asked + *sweep_ : time_point::max()};
}

task<outcome<nothing>> unique_key_session::release(request r) {
  std::string sql = fmt::format("DELETE FROM {}{}", rows_.name(), rows_.where(r.key));
  return change(r, std::move(sql), "delete a key's row", refusal::not_owner);
}

class reentrant_session final : public unique_key_session {
 public:
  using unique_key_session::unique_key_session;
  task<outcome<nothing>> release(request r) override;

 private:
  std::string mine(request r) const {
    return fmt::format("{} AND owner={}", rows_.where(r.key), owner(r));
  }
  std::string insert(request r) const override {
    return fmt::format(
        "INSERT INTO {} (name, owner, depth, taken_at) VALUES ({}, {}, 1, UTC_TIMESTAMP(6))",
        rows_.name(), rows_.key(r.key), owner(r));
  }
  task<outcome<grant>> enter_again(request r) override;
};

task<outcome<grant>> reentrant_session::enter_again(request r) {
  std::string sql = fmt::format("UPDATE {} SET depth=depth+1{}", rows_.name(), mine(r));
  const outcome<nothing> end =
      co_await change(r, std::move(sql), "count an acquisition", refusal::busy, refusal::busy);
  if (!end.done()) co_return end.without_value<grant>();
  // The time of the first acquisition, and with it the sweeper's limit, is not known here.
  co_return grant{};
}

task<outcome<nothing>> reentrant_session::release(request r) {
  std::string last = fmt::format("DELETE FROM {}{} AND depth=1", rows_.name(), mine(r));
  const outcome<nothing> end =
      co_await change(r, std::move(last), "delete a key's row", refusal::not_owner);
  if (!end.refused(refusal::not_owner)) co_return end;
  std::string inner = fmt::format("UPDATE {} SET depth=depth-1{}", rows_.name(), mine(r));
  co_return co_await change(r, std::move(inner), "count a release", refusal::not_owner);
}

template <class Session>
std::unique_ptr<driver> make_swept(const driver_setup& setup, layout how) {
  const auto sweep = read_sweep(setup.options.at("sweep"));
  const auto swept = std::make_shared<std::atomic_flag>();  // set: a session runs the sweeper
  return std::make_unique<table_driver>(
      setup, std::move(how), concerns{}, [sweep, swept](const opening& o) {
        return std::make_unique<Session>(o, sweep, !swept->test_and_set());
      });
}

constexpr lock_option sweep_option{.name = "sweep",
                                   .values = "a duration as 30s or 500ms; off",
                                   .preset = "30s",
                                   .help = "rows older than this are deleted, held or not",
                                   .accepts = accepts_sweep};

}  // namespace

// No feature::lease: the time limit is an option, not the request's, and counts from the INSERT
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
      .cost = {2, 2},
      .options = {sweep_option,
                  {.name = "key",
                   .values = "primary, secondary",
                   .preset = "primary",
                   .help = "the unique key that keeps others out: the table's primary key; or a "
                           "secondary one beside a numbered primary key, of which each INSERT in "
                           "vain burns a number",
                   .accepts = is_one_of<"primary", "secondary">}},
      .make = [](const driver_setup& setup) -> std::unique_ptr<driver> {
        return make_swept<unique_key_session>(setup,
                                              {.suffix = "unique_key",
                                               .columns = ", taken_at DATETIME(6) NOT NULL",
                                               .rows_first = false,
                                               .numbered = setup.options.at("key") == "secondary"});
      },
  };
}

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
      .cost = {2, 2},
      .options = {sweep_option},
      .make = [](const driver_setup& setup) -> std::unique_ptr<driver> {
        return make_swept<reentrant_session>(
            setup, {.suffix = "unique_key_reentrant",
                    .columns = ", owner VARBINARY(191) NOT NULL, depth INT UNSIGNED NOT NULL, "
                               "taken_at DATETIME(6) NOT NULL",
                    .rows_first = false});
      },
  };
}

}  // namespace lockmark::mysql
