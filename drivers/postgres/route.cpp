#include "drivers/postgres/route.hpp"

#include <fmt/core.h>

#include "drivers/postgres/errors.hpp"

namespace lockmark::postgres {
namespace {

// A pooler answers a login by itself, so its number of the session's process is not the server's.
constexpr const char* who_serves =
    "SELECT pg_is_in_recovery(), current_setting('transaction_read_only'), pg_backend_pid()";

task<reached> try_server(connection& c, const endpoint& where, time_point deadline) {
  const connect_failure failure = co_await c.connect(where, deadline);
  if (failure.failed()) {
    co_return reached{.why = sentence(where, failure), .for_good = is_permanent(failure.sqlstate)};
  }
  const answer a = co_await c.query(who_serves, deadline);
  reached unfit;
  if (!a.done()) {
    unfit.why = sentence(where, "ask whether it can be written to", a);
  } else {
    const row said = a.at(0, 3);
    if (said.truth(0)) {
      unfit.why = fmt::format("{}: can only be read (a standby)", where.shown());
    } else if (said.text(1) != "off") {
      unfit.why =
          fmt::format("{}: can only be read (default_transaction_read_only is on)", where.shown());
    }
    c.note_process(said.number(2));
  }
  if (unfit.failed()) c.drop();
  co_return unfit;
}

}  // namespace

task<reached> route::reach(loop& l, connection& c, time_point deadline) {
  const std::size_t first = place_;
  const std::size_t count = hosts_.size();
  reached all{.why = "", .for_good = true};
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t which = (first + i) % count;
    const duration share = (deadline - l.now()) / static_cast<std::int64_t>(count - i);
    const reached unfit = co_await try_server(c, hosts_[which], l.now() + share);
    if (!unfit.failed()) {
      place_ = which;
      co_return unfit;
    }
    all.why += fmt::format("{}{}", all.failed() ? "; " : "", unfit.why);
    all.for_good = all.for_good && unfit.for_good;
  }
  co_return all;
}

task<void> reach_or_throw(loop& l, connection& c, route& r, time_point deadline) {
  const reached there = co_await r.reach(l, c, deadline);
  if (there.failed()) throw no_server(there.why);
}

}  // namespace lockmark::postgres
