// Problems of the server that would spoil a run: too few connections, missing rights, settings that
// change the meaning of a lock.
#include <fmt/core.h>
#include <sys/resource.h>

#include <map>

#include "drivers/mysql/errors.hpp"
#include "drivers/mysql/table_driver.hpp"

namespace lockmark::mysql {
namespace {

using values = std::map<std::string, std::string>;
using findings = std::vector<finding>;

constexpr std::string_view variables_query =
    "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('max_connections','max_user_connections',"
    "'tx_isolation','transaction_isolation')";

constexpr std::string_view status_query =
    "SHOW GLOBAL STATUS WHERE Variable_name IN ('Threads_connected','wsrep_cluster_size',"
    "'Rpl_semi_sync_master_status','Rpl_semi_sync_source_status')";

struct inspection {
  const endpoint& at;
  const route& way;
  const concerns about;
  const demand load;
  values said;
  findings found;

  // The value of a variable; 0 if this server does not have it.
  std::uint64_t number(const std::string& name) const;

  void stop(std::string sentence) { found.push_back({true, std::move(sentence)}); }
  void remark(std::string sentence) { found.push_back({false, std::move(sentence)}); }

  // Connections wanted by the process, and from the server that gets most of them.
  std::uint64_t wanted_here() const {
    return load.clients_in_all() + (about.control_connections ? load.instances : 0);
  }
  std::uint64_t wanted_there() const {
    const std::uint64_t share = way.all_write() ? way.hosts().size() : 1;
    return (wanted_here() + share - 1) / share;
  }

  void look_at_connections();
  void look_at_descriptors();
  void look_at_isolation();
  void look_at_other_servers();
};

std::uint64_t inspection::number(const std::string& name) const {
  const auto variable = said.find(name);
  if (variable == said.end()) return 0;
  const auto value = whole_number(variable->second);
  if (value) return *value;
  throw no_server(fmt::format("{}: says that {} is '{}', where a whole number was expected",
                              at.shown(), name, quotable(variable->second)));
}

void inspection::look_at_connections() {
  const std::uint64_t limit = number("max_connections");
  const std::uint64_t used = number("Threads_connected");
  if (limit > 0 && wanted_there() + used > limit) {
    stop(
        fmt::format("{}: the run wants {} connections, and the server has room for {} "
                    "(max_connections={}, {} in use): raise max_connections or lower clients",
                    at.shown(), wanted_there(), limit - std::min(used, limit), limit, used));
  }
  const std::uint64_t own = number("max_user_connections");
  if (own > 0 && wanted_there() > own) {
    stop(
        fmt::format("{}: the run wants {} connections, and user '{}' may have {} "
                    "(max_user_connections)",
                    at.shown(), wanted_there(), at.user, own));
  }
}

void inspection::look_at_descriptors() {
  constexpr std::uint64_t others = 64;  // files, loops, pipes
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  if (wanted_here() + others <= limit.rlim_cur) return;
  stop(
      fmt::format("the run wants {} connections, and this process may open {} files: raise the "
                  "limit (ulimit -n) or lower clients",
                  wanted_here(), limit.rlim_cur));
}

void inspection::look_at_isolation() {
  if (!about.row_locks) return;
  for (const char* name : {"tx_isolation", "transaction_isolation"}) {
    const auto level = said.find(name);
    if (level == said.end() || level->second == "REPEATABLE-READ") continue;
    remark(
        fmt::format("{}: {} is {}: row locks behave otherwise than under the usual "
                    "REPEATABLE-READ (READ-COMMITTED locks no gaps, and no rows that do not "
                    "match)",
                    at.shown(), name, level->second));
    return;
  }
}

void inspection::look_at_other_servers() {
  if (way.all_write() && about.one_server) {
    remark(
        fmt::format("{}: this lock is known to one Galera node only: with writers=all, clients "
                    "of different nodes hold it at the same time",
                    at.shown()));
  }
  const std::uint64_t members = number("wsrep_cluster_size");
  if (way.galera() && members < way.hosts().size()) {
    remark(fmt::format("{}: the Galera cluster has {} of the {} nodes that the target names",
                       at.shown(), members, way.hosts().size()));
  }
  if (way.galera() || way.hosts().size() == 1) return;
  for (const char* name : {"Rpl_semi_sync_master_status", "Rpl_semi_sync_source_status"}) {
    const auto on = said.find(name);
    if (on != said.end() && on->second == "ON") return;
  }
  remark(
      fmt::format("{}: replication is asynchronous: a failover loses what no replica had yet, "
                  "locks too",
                  at.shown()));
}

// Each statement changes nothing and needs one right; DROP is needed at the end.
findings missing_right(const endpoint& at, std::string_view right, const answer& a) {
  constexpr unsigned command_denied = 1142;
  constexpr unsigned column_denied = 1143;
  constexpr unsigned access_denied = 1044;
  if (a.error != command_denied && a.error != column_denied && a.error != access_denied) return {};
  return {{true, fmt::format("{}: user '{}' lacks the right {} (error {}: {})", at.shown(), at.user,
                             right, a.error, a.text)}};
}

task<findings> rehearse(connection& c, const table& rows, time_point deadline) {
  const std::pair<std::string_view, std::string> needed[] = {
      {"SELECT", fmt::format("SELECT 1 FROM {} WHERE 1=0", rows.name())},
      {"UPDATE", fmt::format("UPDATE {} SET name=name WHERE 1=0", rows.name())},
      {"DELETE", fmt::format("DELETE FROM {} WHERE 1=0", rows.name())},
      {"INSERT", fmt::format("INSERT INTO {0} (name) SELECT name FROM {0} WHERE 1=0", rows.name())},
      {"DROP", rows.shared()
                   ? std::string{"DO 0"}
                   : fmt::format("DROP TABLE IF EXISTS `{}_none`", rows.bare_name().substr(0, 59))},
  };
  findings all;
  for (const auto& [right, sql] : needed) {
    const answer a = co_await c.query(sql, deadline);
    if (a.unknown) throw no_server(sentence(c.where(), "ask for the user's rights", a));
    for (finding& f : missing_right(c.where(), right, a)) all.push_back(std::move(f));
  }
  co_return all;
}

}  // namespace

task<std::vector<finding>> inspect(connection& c, const route& way, const table& rows,
                                   concerns about, demand load, time_point deadline) {
  inspection now{
      .at = c.where(), .way = way, .about = about, .load = load, .said = {}, .found = {}};
  if (rows.exists()) now.found = co_await rehearse(c, rows, deadline);
  for (const std::string_view sql : {variables_query, status_query}) {
    const answer a = co_await must(c, "read its limits", std::string{sql}, deadline);
    for (std::size_t i = 0; i < a.rows(); ++i) {
      const row r = a.at(i, 2);
      now.said[std::string{r.text(0)}] = r.cell(1).value_or("");
    }
  }
  now.look_at_connections();
  now.look_at_descriptors();
  now.look_at_isolation();
  now.look_at_other_servers();
  co_return std::move(now.found);
}

}  // namespace lockmark::mysql
