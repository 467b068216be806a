// mysql/get_lock: a user lock of the server, bound to a connection.
//
// acquire   SELECT GET_LOCK('lockmark_<run>_<key>', <seconds>)
// release   SELECT RELEASE_LOCK('lockmark_<run>_<key>')
//
// A user lock belongs to a connection, which counts it, and ends with it. Only one server knows it:
// it is neither replicated nor shared among Galera nodes, and gone after a failover.
//
// MariaDB accepts fractions of a second, and names of 192 characters. MySQL accepts whole seconds
// (a comment for MariaDB hides the fraction; KILL QUERY ends the wait in time) and 64 characters,
// and takes names that differ only in case for the same. MySQL's deadlocks between user locks are
// error 3058.
#include <fmt/core.h>

#include <chrono>

#include "drivers/mysql/bound_session.hpp"
#include "drivers/mysql/errors.hpp"
#include "drivers/mysql/mysql.hpp"
#include "drivers/mysql/table_driver.hpp"

namespace lockmark::mysql {
namespace {

using lock_names = std::vector<std::string>;  // as literals, by request::key

class get_lock_session final : public bound_session {
 public:
  get_lock_session(const opening& o, const lock_names& locks)
      : bound_session(o, "SET SESSION autocommit=1"), locks_(locks) {}

 private:
  task<outcome<grant>> take(connection& c, request r, unsigned depth) override;
  task<outcome<nothing>> give(connection& c, request r, unsigned depth) override;
  outcome<grant> failed(connection& c, const answer& a) const;
  task<answer> unlock(connection& c, request r, time_point deadline);

  const lock_names& locks_;
};

task<outcome<grant>> get_lock_session::take(connection& c, request r, unsigned) {
  const std::chrono::duration<double> left = r.deadline - loop_.now();
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(left);
  std::string sql = fmt::format("SELECT GET_LOCK({}, /*M! {:.6f} + 0 * */ {}), @@global.read_only",
                                locks_[r.key], left.count(), seconds.count());
  const waited end = co_await killer_.wait(c, std::move(sql), r.deadline, r);
  const answer& a = end.said;
  if (!a.done()) {
    const outcome<grant> why = failed(c, a);
    if (end.late && why.refused(refusal::busy)) co_return refusal::deadline;
    co_return why;
  }
  const row said = a.at(0, 2);
  const bool granted = said.cell(0) && said.number(0) == 1;
  if (granted && !end.late && !is_read_only(said.text(1))) co_return grant{};
  if (!granted) co_return refusal::deadline;  // 0: timed out; NULL: killed
  const answer gone = co_await unlock(c, r, clear_up_by(loop_, r));
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

task<answer> get_lock_session::unlock(connection& c, request r, time_point deadline) {
  return c.query(fmt::format("SELECT RELEASE_LOCK({})", locks_[r.key]), deadline);
}

task<outcome<nothing>> get_lock_session::give(connection& c, request r, unsigned) {
  const answer a = co_await unlock(c, r, r.answer_by());
  if (!a.done()) {
    c.drop();  // the server frees it when it notices
    co_return a.unknown.value_or(doubt::connection_lost);
  }
  if (a.at(0, 1).cell(0) != "1") co_return refusal::not_owner;
  co_return nothing{};
}

class get_lock_driver final : public table_driver {
 public:
  explicit get_lock_driver(const driver_setup& setup)
      : table_driver(setup, {.suffix = "get_lock", .columns = "", .exists = false},
                     {.one_server = true, .control_connections = true}, [this](const opening& o) {
                       return std::make_unique<get_lock_session>(o, locks_);
                     }) {
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
            "mysql/get_lock: names of {} characters are too long: {} "
            "allows {} for user locks, of which the run's name takes {}",
            longest_, value, limit, rows().bare_name().size() - 8);
      }
    }
    co_return said;
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
      .cost = {2, 2},
      .options = {},
      .make = [](const driver_setup& setup) -> std::unique_ptr<driver> {
        return std::make_unique<get_lock_driver>(setup);
      },
  };
}

}  // namespace lockmark::mysql
