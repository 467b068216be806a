// mysql/optimistic_version and mysql/optimistic_update_time: no lock; a commit succeeds if the
// row's mark, its version or its time, is still the one read.
//
// optimistic_version
// acquire   SELECT version, value FROM lockmark_<run>_optimistic_version WHERE name='<key>'
// release   UPDATE ... SET version=version+1, value=<read>+1 WHERE name='<key>' AND version=<read>
//
// optimistic_update_time
// acquire   SELECT update_time, value FROM lockmark_<run>_optimistic_update_time WHERE name='<key>'
// release   UPDATE ... SET value=<read>+1, update_time=CURRENT_TIMESTAMP(6)
//           WHERE name='<key>' AND update_time='<read>'
//
// With `first=insert`, optimistic_version does not rest on a row that is there: it begins with
// acquire   INSERT INTO lockmark_<run>_optimistic_version (name) VALUES ('<key>')
// which succeeds once for each key, and as a duplicate ever after, and then reads.
//
// One row changed: committed. None: another client was first. `value` is the data that the commits
// protect: a count of them, which each client computes itself. A commit that overwrites another
// makes it too small. Autocommit is on.
//
// A time is only as good a mark as its resolution: with precision=0, the second of two commits
// within one second goes unnoticed and overwrites the first. With microseconds it works as long as
// the server's clock is not set back.
#include <fmt/core.h>

#include <map>

#include "drivers/mysql/errors.hpp"
#include "drivers/mysql/mysql.hpp"
#include "drivers/mysql/options.hpp"
#include "drivers/mysql/table_driver.hpp"

namespace lockmark::mysql {
namespace {

// The column that moves with every commit, and the statements that use it.
struct mark {
  std::string_view column;
  std::string_view more;        // selected after `column` and `value`
  std::size_t cells;            // selected in all
  std::size_t token;            // the cell that is the grant's token
  std::string_view set_before;  // of `value` in the UPDATE
  std::string set_after;
  std::string (*as_read)(const row& said);  // as a literal for the UPDATE
  std::string_view reading;                 // for errors
  std::string_view committing;
};

std::string version_in(const row& said) {
  return std::to_string(said.number(0));
}

std::string time_in(const row& said) {
  const std::string_view text = said.text(0);
  constexpr std::size_t longest = std::string_view{"2026-11-22 18:10:58.123456"}.size();
  if (text.empty() || text.size() > longest ||
      text.find_first_not_of("0123456789-: .") != text.npos) {
    said.refuse(0, "a time");
  }
  return fmt::format("'{}'", text);
}

mark version_mark() {
  return {.column = "version",
          .more = "",
          .cells = 2,
          .token = 0,
          .set_before = "version=version+1, ",
          .set_after = "",
          .as_read = version_in,
          .reading = "read a version",
          .committing = "commit a version"};
}

// The token is the time in microseconds.
mark time_mark(std::string_view precision) {
  return {.column = "update_time",
          .more = ", CAST(UNIX_TIMESTAMP(update_time)*1000000 AS UNSIGNED)",
          .cells = 3,
          .token = 2,
          .set_before = "",
          .set_after = fmt::format(", update_time=CURRENT_TIMESTAMP({})", precision),
          .as_read = time_in,
          .reading = "read a time",
          .committing = "commit a time"};
}

class optimistic_session final : public table_session {
 public:
  // `inserts`: there may be no row yet.
  optimistic_session(const opening& o, mark by, bool inserts)
      : table_session(o), by_(std::move(by)), inserts_(inserts), readings_(o.who.clients) {}

  task<outcome<grant>> acquire(request r) override;
  task<outcome<nothing>> release(request r) override;

 private:
  struct reading {
    std::string marked;
    std::uint64_t value = 0;
  };

  task<outcome<nothing>> insert(request r);

  const mark by_;
  const bool inserts_;
  std::vector<std::map<std::uint32_t, reading>> readings_;  // by client, by key: the last
};

// There is a row afterwards, whoever has inserted it; unanswered, nobody minds that there may be.
task<outcome<nothing>> optimistic_session::insert(request r) {
  std::string sql =
      fmt::format("INSERT INTO {} (name) VALUES ({})", rows_.name(), rows_.key(r.key));
  const outcome<answer> end = co_await ask(r, std::move(sql), "insert a key's row");
  if (end.in_doubt()) co_return refusal::unavailable;
  if (!end.done()) co_return end.without_value<nothing>();
  co_return nothing{};
}

// A read leaves nothing behind, so there is no doubt about one that was not answered.
task<outcome<grant>> optimistic_session::acquire(request r) {
  if (inserts_) {
    const outcome<nothing> there = co_await insert(r);
    if (!there.done()) co_return there.without_value<grant>();
  }
  std::string sql = fmt::format("SELECT {}, value{} FROM {}{}", by_.column, by_.more, rows_.name(),
                                rows_.where(r.key));
  const outcome<answer> read = co_await ask(r, std::move(sql), by_.reading);
  if (read.in_doubt()) co_return refusal::unavailable;
  if (!read.done()) co_return read.without_value<grant>();
  expect_row(read.value());
  const row said = read.value().at(0, by_.cells);
  readings_[r.client][r.key] = reading{.marked = by_.as_read(said), .value = said.number(1)};
  co_return grant{.token = said.number(by_.token)};
}

task<outcome<nothing>> optimistic_session::release(request r) {
  const auto read = readings_[r.client].extract(r.key);
  if (read.empty()) co_return refusal::not_owner;
  const reading& last = read.mapped();
  std::string sql =
      fmt::format("UPDATE {} SET {}value={}{}{} AND {}={}", rows_.name(), by_.set_before,
                  last.value + 1, by_.set_after, rows_.where(r.key), by_.column, last.marked);
  co_return co_await change(r, std::move(sql), by_.committing, refusal::conflict,
                            refusal::conflict);
}

std::unique_ptr<driver> make_optimistic(const driver_setup& setup, layout how, mark by) {
  how.columns += ", value BIGINT UNSIGNED NOT NULL DEFAULT 0";
  const bool inserts = !how.rows_first;
  return std::make_unique<table_driver>(
      setup, std::move(how), concerns{}, [by = std::move(by), inserts](const opening& o) {
        return std::make_unique<optimistic_session>(o, by, inserts);
      });
}

}  // namespace

lock_kind optimistic_version() {
  return {
      .name = "mysql/optimistic_version",
      .summary = "no lock: an UPDATE that succeeds if the row's version is still the one read",
      .has = feature::optimistic,
      .promises = safety::none,
      .topologies = every_topology,
      .algorithm = "compare-and-set of a version column (JPA @Version)",
      .cost = {2, 2},
      .options = {{.name = "first",
                   .values = "read, insert",
                   .preset = "read",
                   .help = "the first step: read a row that is there; or insert it, which is a "
                           "duplicate but once, and then read",
                   .accepts = is_one_of<"read", "insert">}},
      .make = [](const driver_setup& setup) -> std::unique_ptr<driver> {
        return make_optimistic(setup,
                               {.suffix = "optimistic_version",
                                .columns = ", version BIGINT UNSIGNED NOT NULL DEFAULT 0",
                                .rows_first = setup.options.at("first") == "read"},
                               version_mark());
      },
  };
}

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
      .cost = {2, 2},
      .options = {{.name = "precision",
                   .values = "6, 0",
                   .preset = "6",
                   .help = "decimals of the time's seconds; 0 loses updates within one second",
                   .accepts = is_one_of<"6", "0">}},
      // TIMESTAMP counts seconds since 1970, so no change of summer time repeats an hour.
      .make = [](const driver_setup& setup) -> std::unique_ptr<driver> {
        const std::string& precision = setup.options.at("precision");
        return make_optimistic(
            setup,
            {.suffix = "optimistic_update_time",
             .columns =
                 fmt::format(", update_time TIMESTAMP({0}) NOT NULL DEFAULT CURRENT_TIMESTAMP({0})",
                             precision)},
            time_mark(precision));
      },
  };
}

}  // namespace lockmark::mysql
