// mysql/optimistic_version: no lock; a commit succeeds if nobody else committed since the read.
//
// acquire   SELECT version, value FROM lockmark_<run>_optimistic_version WHERE name='<key>'
// release   UPDATE ... SET version=version+1, value=<read>+1 WHERE name='<key>' AND version=<read>
//
// One row changed: committed. None: somebody else was first. `value` is what the commits protect, a
// count of them that each client works out itself: a commit that overwrites another makes it too
// small. Autocommit is on.
#include <fmt/core.h>

#include <map>

#include "drivers/mysql/autocommit_pool.hpp"
#include "drivers/mysql/errors.hpp"
#include "drivers/mysql/mysql.hpp"
#include "drivers/mysql/table_driver.hpp"

namespace lockmark::mysql {
namespace {

constexpr std::string_view columns =
    ", version BIGINT UNSIGNED NOT NULL DEFAULT 0, value BIGINT UNSIGNED NOT NULL DEFAULT 0";

struct versioned_reading {
  std::uint64_t version = 0;
  std::uint64_t value = 0;
};

class optimistic_session final : public session {
 public:
  optimistic_session(loop& l, route& way, const table& rows, const instance& who)
      : rows_(rows), statements_(l, way, who), readings_(who.clients) {}

  task<void> connect(time_point deadline) { return statements_.open(deadline); }

  task<outcome<grant>> acquire(request r) override;
  task<outcome<grant>> renew(request) override { co_return refusal::not_owner; }
  task<outcome<nothing>> release(request r) override;
  bool alive() const override { return true; }  // nothing is held
  task<void> close() override {
    statements_.quit();
    co_return;
  }
  traffic sent() const override { return statements_.sent(); }

 private:
  const table& rows_;
  autocommit_pool statements_;
  std::vector<std::map<std::uint32_t, versioned_reading>> readings_;  // by client, by key: the last
};

// A read leaves nothing behind, so there is no doubt about one that was not answered.
task<outcome<grant>> optimistic_session::acquire(request r) {
  std::string sql =
      fmt::format("SELECT version, value FROM {}{}", rows_.name(), rows_.where(r.key));
  const outcome<answer> read = co_await statements_.ask(r, std::move(sql), "read a version");
  if (read.in_doubt()) co_return refusal::unavailable;
  if (!read.done()) co_return read.without_value<grant>();
  expect_row(statements_.where(), read.value());
  const row said = read.value().at(0, 2);
  const versioned_reading now{.version = said.number(0), .value = said.number(1)};
  readings_[r.client][r.key] = now;
  co_return grant{.token = now.version};
}

task<outcome<nothing>> optimistic_session::release(request r) {
  const auto read = readings_[r.client].extract(r.key);
  if (read.empty()) co_return refusal::not_owner;
  const versioned_reading last = read.mapped();
  std::string sql = fmt::format("UPDATE {} SET version=version+1, value={}{} AND version={}",
                                rows_.name(), last.value + 1, rows_.where(r.key), last.version);
  const outcome<answer> end = co_await statements_.ask(r, std::move(sql), "commit a version");
  if (end.refused(refusal::busy)) co_return refusal::conflict;
  if (!end.done()) co_return end.without_value<nothing>();
  if (end.value().affected == 0) co_return refusal::conflict;
  co_return nothing{};
}

class optimistic_driver final : public table_driver {
 public:
  explicit optimistic_driver(const driver_setup& setup)
      : table_driver(setup,
                     table{setup.run_names,
                           {.suffix = "optimistic_version", .columns = std::string{columns}}},
                     {}) {}

  task<std::unique_ptr<session>> open(loop& l, instance who, time_point deadline) override {
    auto s = std::make_unique<optimistic_session>(l, way(), rows(), who);
    co_await s->connect(deadline);
    co_return s;
  }
};

}  // namespace

lock_kind optimistic_version() {
  return {
      .name = "mysql/optimistic_version",
      .summary = "no lock: an UPDATE that succeeds if the row's version is still the one read",
      .has = feature::optimistic,
      .promises = safety::none,
      .topologies = every_topology,
      .algorithm = "compare-and-set of a version column (JPA @Version)",
      .options = {},
      .make = [](const driver_setup& setup) -> std::unique_ptr<driver> {
        return std::make_unique<optimistic_driver>(setup);
      },
  };
}

}  // namespace lockmark::mysql
