// acquire   SELECT version, value FROM lockmark_<run>_optimistic_version WHERE name='<key>'
// release   UPDATE ... SET version=version+1, value=<read>+1 WHERE name='<key>' AND version=<read>
//
// One row changed: committed. None: somebody else was first. `value` is what the commits protect, a
// count of them that each client works out itself: a commit that overwrites another makes it too
// small. Autocommit is on.
#include "drivers/mysql/optimistic_version.hpp"

#include <fmt/core.h>

#include <map>

#include "drivers/mysql/errors.hpp"
#include "drivers/mysql/pool.hpp"
#include "drivers/mysql/table_driver.hpp"

namespace lockmark::mysql {
namespace {

constexpr std::string_view columns =
    ", version BIGINT UNSIGNED NOT NULL DEFAULT 0, value BIGINT UNSIGNED NOT NULL DEFAULT 0";

struct reading {
  std::uint64_t version = 0;
  std::uint64_t value = 0;
};

class optimistic_session final : public session {
 public:
  optimistic_session(loop& l, const endpoint& where, const table& rows, std::uint32_t clients)
      : loop_(l),
        rows_(rows),
        pool_(l, where, "SET SESSION autocommit=1", clients),
        readings_(clients) {}

  task<void> connect(time_point deadline) { return pool_.fill(deadline); }

  task<outcome<grant>> acquire(request r) override;
  task<outcome<grant>> renew(request) override { co_return refusal::not_owner; }
  task<outcome<nothing>> release(request r) override;
  bool alive() const override { return true; }  // nothing is held
  task<void> close() override {
    pool_.quit();
    co_return;
  }
  traffic sent() const override { return pool_.sent(); }

 private:
  task<outcome<nothing>> commit(connection& c, request r, reading read);
  void throw_if_permanent(const answer& a, std::string_view doing) const;

  loop& loop_;
  const table& rows_;
  pool pool_;
  std::vector<std::map<std::uint32_t, reading>> readings_;  // by client, by key: the last
};

void optimistic_session::throw_if_permanent(const answer& a, std::string_view doing) const {
  if (is_permanent(a.error)) throw no_server(sentence(pool_.where(), doing, a));
}

// A read leaves nothing behind, so there is no doubt about one that was not answered.
task<outcome<grant>> optimistic_session::acquire(request r) {
  if (loop_.now() >= r.deadline) co_return refusal::deadline;
  const outcome<connection*> lent = co_await pool_.borrow(r.client, r.deadline);
  if (!lent.done()) co_return lent.without_value<grant>();
  connection& c = *lent.value();
  const answer a = co_await c.query(
      "SELECT version, value FROM " + rows_.name() + rows_.where(r.key), r.answer_by());
  pool_.give_back(r.client, c);
  if (a.unknown == doubt::deadline) co_return refusal::deadline;
  throw_if_permanent(a, "read a version");
  if (!a.done()) co_return refusal::unavailable;
  expect_row(pool_.where(), a);
  const reading now{.version = a.number(0), .value = a.number(1)};
  readings_[r.client][r.key] = now;
  co_return grant{.token = now.version};
}

task<outcome<nothing>> optimistic_session::release(request r) {
  const auto read = readings_[r.client].extract(r.key);
  if (read.empty()) co_return refusal::not_owner;
  if (loop_.now() >= r.deadline) co_return refusal::deadline;
  const outcome<connection*> lent = co_await pool_.borrow(r.client, r.deadline);
  if (!lent.done()) co_return lent.without_value<nothing>();
  connection& c = *lent.value();
  const outcome<nothing> end = co_await commit(c, r, read.mapped());
  pool_.give_back(r.client, c);
  co_return end;
}

task<outcome<nothing>> optimistic_session::commit(connection& c, request r, reading read) {
  const answer a =
      co_await c.query(fmt::format("UPDATE {} SET version=version+1, value={}{} AND version={}",
                                   rows_.name(), read.value + 1, rows_.where(r.key), read.version),
                       r.answer_by());
  if (a.unknown) co_return *a.unknown;
  throw_if_permanent(a, "commit a version");
  if (a.error == error_number::deadlock || a.error == error_number::lock_wait_timeout) {
    co_return refusal::conflict;
  }
  if (!a.done()) co_return refusal::unavailable;
  if (a.affected == 0) co_return refusal::conflict;
  co_return nothing{};
}

class optimistic_driver final : public table_driver {
 public:
  explicit optimistic_driver(const driver_setup& setup)
      : table_driver(setup, "optimistic_version", std::string{columns}) {}

  task<std::unique_ptr<session>> open(loop& l, instance who, time_point deadline) override {
    auto s = std::make_unique<optimistic_session>(l, where(), rows(), who.clients);
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
      .topologies = "mysql",
      .algorithm = "compare-and-set of a version column (JPA @Version)",
      .options = {},
      .make = [](const driver_setup& setup) -> std::unique_ptr<driver> {
        return std::make_unique<optimistic_driver>(setup);
      },
  };
}

}  // namespace lockmark::mysql
