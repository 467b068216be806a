// mysql/optimistic_update_time: no lock; a commit succeeds if the row's time is still the one read.
//
// acquire   SELECT update_time, value FROM lockmark_<run>_optimistic_update_time WHERE name='<key>'
// release   UPDATE ... SET value=<read>+1, update_time=CURRENT_TIMESTAMP(6)
//           WHERE name='<key>' AND update_time='<read>'
//
// The row's time stands for its version. That is as good as the time is fine: of two commits in one
// second, with precision=0, the second is not noticed and overwrites what the first has written.
// With microseconds it works as long as the server's clock is not set back.
#include <fmt/core.h>

#include <map>

#include "drivers/mysql/autocommit_pool.hpp"
#include "drivers/mysql/errors.hpp"
#include "drivers/mysql/mysql.hpp"
#include "drivers/mysql/options.hpp"
#include "drivers/mysql/table_driver.hpp"

namespace lockmark::mysql {
namespace {

struct timed_reading {
  std::string time;
  std::uint64_t value = 0;
};

class update_time_session final : public session {
 public:
  update_time_session(loop& l, route& way, const table& rows, const instance& who, int precision)
      : rows_(rows), precision_(precision), statements_(l, way, who), readings_(who.clients) {}

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
  const int precision_;
  autocommit_pool statements_;
  std::vector<std::map<std::uint32_t, timed_reading>> readings_;  // by client, by key: the last
};

// It becomes part of the next statement.
std::string time_in(const row& said) {
  const std::string_view text = said.text(0);
  constexpr std::size_t longest = std::string_view{"2026-11-22 18:10:58.123456"}.size();
  if (text.empty() || text.size() > longest ||
      text.find_first_not_of("0123456789-: .") != text.npos) {
    said.refuse(0, "a time");
  }
  return std::string{text};
}

// The token is the time in microseconds.
task<outcome<grant>> update_time_session::acquire(request r) {
  std::string sql = fmt::format(
      "SELECT update_time, value, CAST(UNIX_TIMESTAMP(update_time)*1000000 AS UNSIGNED) FROM {}{}",
      rows_.name(), rows_.where(r.key));
  const outcome<answer> read = co_await statements_.ask(r, std::move(sql), "read a time");
  if (read.in_doubt()) co_return refusal::unavailable;  // a read leaves nothing behind
  if (!read.done()) co_return read.without_value<grant>();
  expect_row(statements_.where(), read.value());
  const row said = read.value().at(0, 3);
  readings_[r.client][r.key] = timed_reading{.time = time_in(said), .value = said.number(1)};
  co_return grant{.token = said.number(2)};
}

task<outcome<nothing>> update_time_session::release(request r) {
  const auto read = readings_[r.client].extract(r.key);
  if (read.empty()) co_return refusal::not_owner;
  const timed_reading& last = read.mapped();
  std::string sql = fmt::format(
      "UPDATE {} SET value={}, update_time=CURRENT_TIMESTAMP({}){} AND update_time='{}'",
      rows_.name(), last.value + 1, precision_, rows_.where(r.key), last.time);
  const outcome<answer> end = co_await statements_.ask(r, std::move(sql), "commit a time");
  if (end.refused(refusal::busy)) co_return refusal::conflict;
  if (!end.done()) co_return end.without_value<nothing>();
  if (end.value().affected == 0) co_return refusal::conflict;
  co_return nothing{};
}

// TIMESTAMP counts seconds since 1970, so no change of summer time repeats an hour.
std::string timed_columns(int precision) {
  return fmt::format(
      ", update_time TIMESTAMP({0}) NOT NULL DEFAULT CURRENT_TIMESTAMP({0}), "
      "value BIGINT UNSIGNED NOT NULL DEFAULT 0",
      precision);
}

int read_precision(const driver_setup& setup) {
  return setup.options.at("precision") == "0" ? 0 : 6;
}

class update_time_driver final : public table_driver {
 public:
  explicit update_time_driver(const driver_setup& setup)
      : table_driver(setup,
                     table{setup.run_names,
                           {.suffix = "optimistic_update_time",
                            .columns = timed_columns(read_precision(setup))}},
                     {}),
        precision_(read_precision(setup)) {}

  task<std::unique_ptr<session>> open(loop& l, instance who, time_point deadline) override {
    auto s = std::make_unique<update_time_session>(l, way(), rows(), who, precision_);
    co_await s->connect(deadline);
    co_return s;
  }

 private:
  const int precision_;
};

}  // namespace

lock_kind optimistic_update_time() {
  return {
      .name = "mysql/optimistic_update_time",
      .summary =
          "no lock: an UPDATE that succeeds if the row's time is still the one read; in "
          "whole seconds (precision: 0) it loses updates",
      .has = feature::optimistic,
      .promises = safety::none,
      .topologies = every_topology,
      .algorithm = "compare-and-set of an update_time column",
      .options = {{.name = "precision",
                   .values = "6, 0",
                   .preset = "6",
                   .help = "decimals of the time's seconds; 0 loses updates within one second",
                   .accepts = is_one_of<"6", "0">}},
      .make = [](const driver_setup& setup) -> std::unique_ptr<driver> {
        return std::make_unique<update_time_driver>(setup);
      },
  };
}

}  // namespace lockmark::mysql
