#include "drivers/mysql/route.hpp"

#include <fmt/core.h>

#include <random>

#include "drivers/mysql/errors.hpp"

namespace lockmark::mysql {
namespace {

// One committed write that leaves no trace: what the whole group has to put in order. It conflicts
// with nobody, while a statement that defines data stops every node, and many of those at once can
// stop the group for good.
task<answer> write_in_order(connection& c, const std::string& table, time_point deadline) {
  answer last;
  for (const std::string& sql : passing_row(table)) {
    last = co_await c.query(sql, deadline);
    if (!last.done()) break;
  }
  if (!last.done() && !last.unknown) last = co_await c.query("ROLLBACK", deadline);
  co_return last;
}

// Until the node has applied what the group had ordered before this. A change whose client's node
// has died may still be on its way: the others hold it back until they are sure of that death, and
// whoever asked them meanwhile would be told that it never happened.
//
// A read that waits (wsrep_sync_wait) comes after what this node has received, and a dead node's
// change may be elsewhere. A write comes after it. Only who has moved here writes, because that
// takes as long as a commit; where the table is missing or may not be written to, the read is all.
task<answer> catch_up(connection& c, const std::string& table, time_point deadline) {
  answer last;
  if (!table.empty()) last = co_await write_in_order(c, table, deadline);
  if (last.unknown) co_return last;
  for (const char* sql :
       {"SET SESSION wsrep_sync_wait=1", "SELECT 1", "SET SESSION wsrep_sync_wait=0"}) {
    last = co_await c.query(sql, deadline);
    if (!last.done()) break;
  }
  co_return last;
}

}  // namespace

std::vector<std::string> passing_row(const std::string& table) {
  std::random_device entropy;
  const std::string name = fmt::format("'lockmark-fence-{:08x}{:08x}'", entropy(), entropy());
  return {"BEGIN", fmt::format("INSERT IGNORE INTO {} (name) VALUES ({})", table, name),
          fmt::format("DELETE FROM {} WHERE name={}", table, name), "COMMIT"};
}

route::route(servers all, std::string table)
    : all_(std::move(all)),
      table_(std::move(table)),
      places_(all_.all_write ? all_.hosts.size() : std::size_t{1}) {
  for (std::size_t i = 0; i < places_.size(); ++i) places_[i] = i;
}

const endpoint& route::at(std::uint32_t instance) const {
  return all_.hosts[places_[instance % places_.size()]];
}

bool is_read_only(std::string_view value) {
  return value != "0" && value != "OFF";
}

task<reached> route::reach(loop& l, connection& c, std::uint32_t instance, time_point deadline) {
  const std::size_t first = place(instance);
  const std::size_t count = all_.hosts.size();
  reached all{.why = "", .for_good = true};
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t which = (first + i) % count;
    const duration share = (deadline - l.now()) / static_cast<std::int64_t>(count - i);
    const reached unfit = co_await try_one(c, all_.hosts[which], i > 0, l.now() + share);
    if (!unfit.failed()) {
      place(instance) = which;
      co_return unfit;
    }
    all.why += fmt::format("{}{}", all.failed() ? "; " : "", unfit.why);
    all.for_good = all.for_good && unfit.for_good;
  }
  co_return all;
}

// A Galera node executes SHOW even if it is not ready.
task<reached> route::try_one(connection& c, const endpoint& where, bool has_moved,
                             time_point deadline) {
  const connect_failure failure = co_await c.connect(where, deadline);
  if (failure.error != 0) {
    co_return reached{.why = sentence(where, failure), .for_good = is_permanent(failure.error)};
  }
  const answer a = co_await c.query(
      all_.galera ? "SHOW STATUS LIKE 'wsrep_ready'" : "SELECT @@global.read_only", deadline);
  reached unfit;
  if (!a.done()) {
    unfit.why = sentence(where, "ask whether it can be written to", a);
  } else if (all_.galera && (a.empty() || a.at(0, 2).cell(1) != "ON")) {
    unfit.why = fmt::format("{}: not a Galera node that is ready (wsrep_ready)", where.shown());
  } else if (!all_.galera && is_read_only(a.at(0, 1).text(0))) {
    unfit.why = fmt::format("{}: can only be read (read_only is on)", where.shown());
  }
  if (all_.galera && !unfit.failed()) {
    const std::string written = has_moved ? table_ : "";
    const answer caught_up = co_await catch_up(c, written, deadline);
    if (!caught_up.done()) unfit.why = sentence(where, "wait for the group's changes", caught_up);
  }
  if (unfit.failed()) c.drop();
  co_return unfit;
}

task<void> reach_or_throw(loop& l, connection& c, route& r, time_point deadline) {
  const reached there = co_await r.reach(l, c, 0, deadline);
  if (there.failed()) throw no_server(there.why);
}

}  // namespace lockmark::mysql
