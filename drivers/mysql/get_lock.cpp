// mysql/get_lock: a user lock of the server, bound to a connection.
//
// acquire   SELECT GET_LOCK('lockmark_<run>_<key>', <seconds>)
// release   SELECT RELEASE_LOCK('lockmark_<run>_<key>')
//
// A user lock belongs to a connection, is counted there, and ends with it. It is known to one
// server: neither replicated nor shared among Galera nodes, and gone after a failover.
//
// MariaDB reads fractions of a second, and names of 192 characters. MySQL reads whole seconds (a
// comment for MariaDB hides the fraction; KILL QUERY ends the wait in time) and 64 characters, and
// has names that differ in case for the same. MySQL's deadlocks between user locks are error 3058.
#include <fmt/core.h>

#include <chrono>

#include "drivers/mysql/errors.hpp"
#include "drivers/mysql/holdings.hpp"
#include "drivers/mysql/mysql.hpp"
#include "drivers/mysql/table_driver.hpp"
#include "drivers/mysql/waiting.hpp"

namespace lockmark::mysql {
namespace {

using lock_names = std::vector<std::string>;  // as literals, by request::key

class get_lock_session final : public session {
 public:
  get_lock_session(loop& l, route& way, const lock_names& locks, const instance& who)
      : loop_(l),
        locks_(locks),
        pool_(l, way, "SET SESSION autocommit=1", who),
        killer_(l, pool_.sent()),
        holdings_(pool_, who.clients) {}

  task<void> connect(time_point deadline) { return pool_.fill(deadline); }

  task<outcome<grant>> acquire(request r) override;
  task<outcome<grant>> renew(request) override { co_return refusal::not_owner; }
  task<outcome<nothing>> release(request r) override;
  bool alive() const override { return holdings_.alive(); }
  task<void> close() override;
  traffic sent() const override { return pool_.sent(); }

 private:
  task<outcome<grant>> get(connection& c, request r);
  outcome<grant> failed(connection& c, const answer& a) const;
  task<answer> give(connection& c, request r, time_point deadline);

  loop& loop_;
  const lock_names& locks_;
  pool pool_;
  killer killer_;
  holdings holdings_;
};

task<outcome<grant>> get_lock_session::acquire(request r) {
  if (loop_.now() >= r.deadline) co_return refusal::unavailable;  // too late to ask
  if (hold* const held = holdings_.find(r)) {
    const outcome<grant> again = co_await get(*held->link, r);
    if (again.done()) ++held->depth;
    co_return again;
  }
  const outcome<connection*> lent = co_await pool_.borrow(r.client, r.deadline);
  if (!lent.done()) co_return lent.without_value<grant>();
  connection& c = *lent.value();
  const outcome<grant> end = co_await get(c, r);
  if (end.done()) {
    holdings_.taken(r, c);
  } else {
    pool_.give_back(r.client, c);
  }
  co_return end;
}

task<outcome<grant>> get_lock_session::get(connection& c, request r) {
  const std::chrono::duration<double> left = r.deadline - loop_.now();
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(left);
  std::string sql = fmt::format("SELECT GET_LOCK({}, /*M! {:.6f} + 0 * */ {}), @@global.read_only",
                                locks_[r.key], left.count(), seconds.count());
  const waited end = co_await wait_for(loop_, c, killer_, std::move(sql), r.deadline, r);
  const answer& a = end.said;
  if (!a.done()) {
    const outcome<grant> why = failed(c, a);
    if (end.late && why.refused(refusal::busy)) co_return refusal::deadline;
    co_return why;
  }
  const row said = a.at(0, 2);
  const bool granted = said.cell(0) && said.number(0) == 1;
  if (granted && !end.late && !is_read_only(said.text(1))) co_return grant{};
  if (!granted) co_return refusal::deadline;  // 0: in vain; NULL: killed
  const answer gone = co_await give(c, r, clear_up_by(loop_, r));
  if (!gone.done()) {
    c.drop();
    co_return gone.unknown.value_or(doubt::connection_lost);
  }
  if (end.late) co_return refusal::deadline;
  c.drop();
  co_return refusal::unavailable;
}

outcome<grant> get_lock_session::failed(connection& c, const answer& a) const {
  if (a.unknown) return *a.unknown;
  if (is_permanent(a.error)) throw no_server(sentence(c.where(), "get a user lock", a));
  if (is_for_another_server(a.error)) c.drop();
  switch (a.error) {
    case error_number::deadlock:
    case error_number::user_lock_deadlock: return refusal::busy;
    case error_number::lock_wait_timeout:
    case error_number::interrupted: return refusal::deadline;
    default: return refusal::unavailable;
  }
}

task<answer> get_lock_session::give(connection& c, request r, time_point deadline) {
  return c.query(fmt::format("SELECT RELEASE_LOCK({})", locks_[r.key]), deadline);
}

task<outcome<nothing>> get_lock_session::release(request r) {
  hold* const held = holdings_.find(r);
  if (held == nullptr) co_return refusal::not_owner;
  connection& c = *held->link;
  const bool last = --held->depth == 0;
  if (last) holdings_.freed(r);
  const answer a = co_await give(c, r, r.answer_by());
  if (!a.done()) c.drop();  // the server frees it when it notices
  if (last) pool_.give_back(r.client, c);
  if (a.done() && a.at(0, 1).cell(0) == "1") co_return nothing{};
  holdings_.lost(r);
  if (a.done()) co_return refusal::not_owner;
  co_return a.unknown.value_or(doubt::connection_lost);
}

task<void> get_lock_session::close() {
  pool_.quit();
  killer_.quit();
  co_return;
}

class get_lock_driver final : public table_driver {
 public:
  explicit get_lock_driver(const driver_setup& setup)
      : table_driver(setup,
                     table{{.run = setup.run_names.run, .keys = {}},
                           {.suffix = "get_lock", .columns = "", .exists = false}},
                     {.one_server = true, .control_connections = true}) {
    for (const std::string& key : setup.run_names.keys) {
      const std::string name = fmt::format("lockmark_{}_{}", setup.run_names.run, key);
      longest_ = std::max(longest_, name.size());
      locks_.push_back(literal(name));
    }
  }

  task<description> prepare(loop& l, time_point deadline) override {
    description said = co_await table_driver::prepare(l, deadline);
    for (const auto& [name, value] : said) {
      if (name != "server.flavour") continue;
      const std::size_t limit = value == "MariaDB" ? 192 : 64;
      if (longest_ > limit) {
        throw usage_error(
            fmt::format("mysql/get_lock: names of {} characters are too long: {} "
                        "allows {} for user locks, of which the run's name takes {}",
                        longest_, value, limit, rows().bare_name().size() - 8));
      }
    }
    co_return said;
  }

  task<std::unique_ptr<session>> open(loop& l, instance who, time_point deadline) override {
    auto s = std::make_unique<get_lock_session>(l, way(), locks_, who);
    co_await s->connect(deadline);
    co_return s;
  }

 private:
  lock_names locks_;
  std::size_t longest_ = 0;
};

}  // namespace

lock_kind get_lock() {
  return {
      .name = "mysql/get_lock",
      .summary =
          "the server's user lock; known to one server only, so on Galera clients of "
          "different nodes (writers=all) hold it together",
      .has = feature::session_bound | feature::server_wait | feature::reentrant,
      .promises = safety::session,
      .topologies = every_topology,
      .algorithm = "GET_LOCK, RELEASE_LOCK (MySQL 5.7, MariaDB 10.0 and later)",
      .options = {},
      .make = [](const driver_setup& setup) -> std::unique_ptr<driver> {
        return std::make_unique<get_lock_driver>(setup);
      },
  };
}

}  // namespace lockmark::mysql
