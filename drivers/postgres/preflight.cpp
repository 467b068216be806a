// Problems of the server that would spoil a run: too few connections, settings that change the
// meaning of a lock, a pooler between, advisory locks that lock nothing.
#include <fmt/format.h>
#include <sys/resource.h>

#include <map>

#include "drivers/postgres/errors.hpp"
#include "drivers/postgres/lock_driver.hpp"

namespace lockmark::postgres {
namespace {

constexpr const char* limits_query =
    "SELECT name, setting FROM pg_settings WHERE name IN ('max_connections',"
    "'superuser_reserved_connections', 'reserved_connections', 'default_transaction_isolation',"
    "'idle_in_transaction_session_timeout', 'idle_session_timeout', 'synchronous_commit',"
    "'synchronous_standby_names') "
    "UNION ALL SELECT 'used', count(*)::text FROM pg_stat_activity "
    "WHERE backend_type = 'client backend' "
    "UNION ALL SELECT 'of_user', rolconnlimit::text FROM pg_roles WHERE rolname = current_user "
    "UNION ALL SELECT 'of_database', datconnlimit::text FROM pg_database "
    "WHERE datname = current_database()";

struct inspection {
  const endpoint& at;
  const route& way;
  const concerns& about;
  const demand load;
  std::map<std::string, std::string> said;
  std::vector<finding> found;

  std::string text(const std::string& name) const {
    const auto known = said.find(name);
    return known == said.end() ? "" : known->second;
  }
  // 0: this server does not have it, or has no limit.
  std::uint64_t number(const std::string& name) const;

  void stop(std::string sentence) { found.push_back({true, std::move(sentence)}); }
  void remark(std::string sentence) { found.push_back({false, std::move(sentence)}); }

  void look_at_connections();
  void look_at_descriptors();
  void look_at_settings();
  void look_at_standbys();
};

std::uint64_t inspection::number(const std::string& name) const {
  const std::string value = text(name);
  if (value.empty() || value == "-1") return 0;
  const auto number = whole_number(value);
  if (number) return *number;
  throw no_server(fmt::format("{}: says that {} is '{}', where a whole number was expected",
                              at.shown(), name, quotable(value)));
}

void inspection::look_at_connections() {
  const std::uint64_t wanted = load.clients_in_all();
  const std::uint64_t limit = number("max_connections");
  const std::uint64_t taken =
      number("used") + number("superuser_reserved_connections") + number("reserved_connections");
  if (limit > 0 && wanted + taken > limit) {
    stop(
        fmt::format("{}: the run wants {} connections, and the server has room for {} "
                    "(max_connections={}, {} in use or reserved): raise max_connections or lower "
                    "clients",
                    at.shown(), wanted, limit - std::min(taken, limit), limit, taken));
  }
  for (const auto& [name, whose] : {std::pair{"of_user", "user"}, {"of_database", "database"}}) {
    const std::uint64_t own = number(name);
    if (own == 0 || wanted <= own) continue;
    stop(fmt::format("{}: the run wants {} connections, and its {} may have {}", at.shown(), wanted,
                     whose, own));
  }
}

void inspection::look_at_descriptors() {
  constexpr std::uint64_t others = 64;  // files, loops, pipes
  const std::uint64_t wanted = load.clients_in_all();
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  if (wanted + others <= limit.rlim_cur) return;
  stop(
      fmt::format("the run wants {} connections, and this process may open {} files: raise the "
                  "limit (ulimit -n) or lower clients",
                  wanted, limit.rlim_cur));
}

void inspection::look_at_settings() {
  const std::string level = text("default_transaction_isolation");
  if (about.transactions && level != "read committed" && !level.empty()) {
    remark(
        fmt::format("{}: default_transaction_isolation is {}: transactions may fail where they "
                    "would wait under the usual read committed",
                    at.shown(), quotable(level)));
  }
  const char* const ends_holds =
      about.transactions ? "idle_in_transaction_session_timeout" : "idle_session_timeout";
  const std::uint64_t limit_ms = number(ends_holds);
  if ((about.transactions || about.session_locks) && limit_ms > 0) {
    remark(fmt::format("{}: {} is {} ms: a hold that lasts longer is ended by the server",
                       at.shown(), ends_holds, limit_ms));
  }
}

void inspection::look_at_standbys() {
  if (way.hosts().size() == 1 || !about.writes) return;
  const std::string commit = text("synchronous_commit");
  const bool waits = commit != "off" && commit != "local" && !commit.empty();
  if (waits && !text("synchronous_standby_names").empty()) return;
  remark(
      fmt::format("{}: replication is asynchronous: a failover loses what no standby had yet, "
                  "locks too",
                  at.shown()));
}

task<bool> try_lock(connection& c, std::string id, time_point deadline) {
  std::string sql = fmt::format("SELECT pg_try_advisory_lock({})", id);
  const answer a = co_await must(c, "try an advisory lock", std::move(sql), deadline);
  co_return a.at(0, 1).truth(0);
}

task<std::uint64_t> serving_process(connection& c, time_point deadline) {
  const answer a = co_await must(c, "ask for its process", "SELECT pg_backend_pid()", deadline);
  co_return a.at(0, 1).number(0);
}

// Whether the lock of one session keeps another out. A pooler that gives clients a session for each
// transaction lends the same one to both while nobody else is there. Empty: it does.
task<std::string> rehearse(loop& l, connection& one, route& way, std::string id,
                           time_point deadline) {
  traffic unused;
  connection other{l, unused};
  co_await reach_or_throw(l, other, way, deadline);
  const bool first = co_await try_lock(one, id, deadline);
  const bool second = co_await try_lock(other, id, deadline);
  const std::uint64_t process = co_await serving_process(one, deadline);
  const std::uint64_t other_process = co_await serving_process(other, deadline);
  for (int n = first + second; n > 0; --n) {
    co_await must(other, "free an advisory lock", fmt::format("SELECT pg_advisory_unlock({})", id),
                  deadline);
  }
  other.quit();
  if (!first || !second) co_return "";
  if (process != other_process) {
    co_return fmt::format(
        "{}: granted one advisory lock to two sessions: here these locks lock "
        "nothing",
        one.where().shown());
  }
  co_return fmt::format(
      "{}: a pooler shares the server's sessions among its clients for a transaction at a time: an "
      "advisory lock of a session stays with the pooler when its client goes on, so it leaks, and "
      "two clients may hold it; connect to the server itself, let the pooler pool sessions, or "
      "take "
      "postgres/advisory_xact",
      one.where().shown());
}

}  // namespace

task<std::vector<finding>> inspect(loop& l, connection& c, route& way, const concerns& about,
                                   demand load, time_point deadline) {
  inspection now{
      .at = c.where(), .way = way, .about = about, .load = load, .said = {}, .found = {}};
  const answer a = co_await must(c, "read its limits", limits_query, deadline);
  for (std::size_t i = 0; i < a.rows(); ++i) {
    const row r = a.at(i, 2);
    now.said[std::string{r.text(0)}] = r.cell(1).value_or("");
  }
  // What a pooler takes is its own affair.
  if (!c.is_pooled()) now.look_at_connections();
  now.look_at_descriptors();
  now.look_at_settings();
  now.look_at_standbys();
  if (about.session_locks && !about.ids.empty()) {
    std::string id = fmt::format("{}", advisory_id("rehearsal", about.ids.front()));
    std::string trouble = co_await rehearse(l, c, way, std::move(id), deadline);
    if (!trouble.empty()) now.remark(std::move(trouble));
  }
  co_return std::move(now.found);
}

}  // namespace lockmark::postgres
