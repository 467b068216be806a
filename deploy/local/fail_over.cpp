#include "deploy/local/fail_over.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <functional>
#include <optional>
#include <sstream>

#include "deploy/local/ask.hpp"
#include "deploy/local/error.hpp"
#include "deploy/local/process.hpp"
#include "deploy/local/roles.hpp"
#include "deploy/local/versions.hpp"

namespace lockmark::local {
namespace {

using namespace std::chrono_literals;

constexpr duration limit = 10s;
constexpr duration order_again = 2s;

const server_info* find(const cluster_info& cluster, const std::string& name) {
  const auto found = std::ranges::find(cluster.servers, name, &server_info::name);
  return found == cluster.servers.end() ? nullptr : &*found;
}

std::string first_of(const std::vector<std::string>& names) {
  return names.empty() ? std::string{} : names.front();
}

// Without the line end; "nothing" if there was no answer.
std::string spoken(const std::string& answer) {
  return answer.empty() ? "nothing" : answer.substr(0, answer.find_first_of("\r\n"));
}

// Waits until another server leads.
promotion see_another(const std::string& from, time_point ordered,
                      const std::function<std::string()>& leader) {
  promotion done{from, {}, ordered};
  const bool replaced = eventually(
      [&] {
        done.to = leader();
        return !done.to.empty() && done.to != from;
      },
      limit);
  if (!replaced) {
    throw start_error(fmt::format("10 s after a failover was ordered, {} leads",
                                  done.to.empty() ? "nobody" : done.to));
  }
  return done;
}

// The old master keeps granting until a sentinel demotes it.
void see_it_follow(const cluster_info& cluster, const std::string& old) {
  const server_info* const server = find(cluster, old);
  if (server == nullptr) return;
  const bool follows = eventually(
      [server] {
        const auto info = answer_of({"INFO replication\r\n", judge_info}, server->port, patience);
        return info.find("role:master") == info.npos;
      },
      limit);
  if (!follows) throw start_error(fmt::format("10 s after a failover, {} is still a master", old));
}

bool is_under_way(const std::string& said) {
  // A failover may be in progress, because the master is dead.
  return said.starts_with("+OK") || said.starts_with("-INPROG");
}

// The answer of the first sentinel that starts a failover, or else of the last one.
std::string order_failover(const cluster_info& cluster) {
  std::string said;
  for (const server_info& server : cluster.servers) {
    if (serves(server)) continue;
    said = answer_of({"SENTINEL FAILOVER lockmark\r\n", judge_line}, server.port, patience);
    if (is_under_way(said)) break;
  }
  return said;
}

// Sentinels that have briefly not heard from a replica, on a busy machine or just after their
// start, do not consider it good enough yet.
promotion by_sentinel(const cluster_info& cluster) {
  const std::string from = first_of(leaders(cluster));
  time_point ordered;
  std::string said;
  eventually(
      [&] {
        ordered = real_clock{}.now();
        said = order_failover(cluster);
        return !said.starts_with("-NOGOODSLAVE");
      },
      limit);
  if (!is_under_way(said)) {
    throw start_error(
        fmt::format("no sentinel starts a failover; the last one said {}", spoken(said)));
  }
  const promotion done =
      see_another(from, ordered, [&cluster] { return first_of(leaders(cluster)); });
  see_it_follow(cluster, from);
  return done;
}

// The port of a replica of the master at that port, as this node knows it; 0: none.
int replica_of(const server_info& asked, int master_port) {
  const auto nodes = nodes_told_by(asked);
  const auto master = std::ranges::find(nodes, master_port, &cluster_node::port);
  if (master == nodes.end()) return 0;
  const auto replica = std::ranges::find_if(
      nodes, [&](const auto& node) { return node.master == master->id && !node.is("fail"); });
  return replica == nodes.end() ? 0 : replica->port;
}

// The same, from any node; a master that has just been replaced takes a moment to know.
int some_replica_of(const cluster_info& cluster, int master_port) {
  int port = 0;
  eventually(
      [&] {
        for (const server_info& server : cluster.servers) {
          if (port == 0) port = replica_of(server, master_port);
        }
        return port != 0;
      },
      limit);
  return port;
}

promotion in_cluster(const cluster_info& cluster, std::string_view key) {
  const std::string from = owner_of(cluster, key);
  const server_info* const master = find(cluster, from);
  if (master == nullptr) throw start_error("no node of the cluster says whose slot it is now");
  const int port = some_replica_of(cluster, master->port);
  if (port == 0) throw start_error(fmt::format("{} has no replica that could take over", from));
  const std::string info = answer_of({"INFO replication\r\n", judge_info}, port, patience);
  const bool hears = info.find("master_link_status:up") != info.npos;
  const bool asks = hears && answers(redis_probe(), master->port, patience);
  const std::string command = asks ? "CLUSTER FAILOVER\r\n" : "CLUSTER FAILOVER TAKEOVER\r\n";
  const auto order = [&] { return answer_of({command, judge_line}, port, patience); };
  const real_clock clock;
  const time_point ordered = clock.now();
  const std::string said = order();
  if (!said.starts_with("+OK")) {
    throw start_error(
        fmt::format("the replica of {} does not take over; it said {}", from, spoken(said)));
  }
  time_point last = ordered;
  return see_another(from, ordered, [&] {
    const std::string leads = owner_of(cluster, key);
    // A master that does not know its replica yet ignores the request.
    if (leads == from && clock.now() - last > order_again) {
      order();
      last = clock.now();
    }
    return leads;
  });
}

std::string tell(const cluster_info& cluster, const server_info& server,
                 std::string_view statements) {
  const std::string said = ask_mariadb(cluster, server, statements);
  if (said.empty()) {
    throw start_error(fmt::format("{} does not execute '{}'", server.name, statements));
  }
  return said.substr(0, said.find('\n'));
}

bool is_told(const cluster_info& cluster, const server_info& replica) {
  return ask_mariadb(cluster, replica, "SHOW STATUS LIKE 'Slave_running'").find("ON") !=
         std::string::npos;
}

// The replica executes everything received first: otherwise a released lock could come back.
void catch_up(const cluster_info& cluster, const server_info& replica,
              const std::string& position) {
  if (!position.empty() && is_told(cluster, replica)) {
    tell(cluster, replica, fmt::format("SELECT MASTER_GTID_WAIT('{}', 5)", position));
  }
  const bool done = eventually(
      [&] {
        return ask_mariadb(cluster, replica, "SHOW SLAVE STATUS").find("has read all relay log") !=
               std::string::npos;
      },
      limit);
  if (!done) throw start_error(fmt::format("{} does not come to the end of its log", replica.name));
}

promotion of_mariadb(const cluster_info& cluster) {
  promotion done{first_of(leaders(cluster)), {}, {}};
  const server_info* const master = find(cluster, done.from);
  // The former master is read-only too, but follows nobody.
  for (const std::string& name : followers(cluster)) {
    const bool follows = ask_mariadb(cluster, *find(cluster, name), "SHOW SLAVE STATUS") != "\n";
    if (done.to.empty() && follows) done.to = name;
  }
  const server_info* const next = find(cluster, done.to);
  if (next == nullptr) throw start_error("no replica answers that could be promoted");
  done.ordered = real_clock{}.now();
  std::string position;
  if (master != nullptr) {
    position = tell(cluster, *master, "SET GLOBAL read_only=1; SELECT @@gtid_binlog_pos");
  }
  catch_up(cluster, *next, position);
  tell(cluster, *next, "STOP SLAVE; RESET SLAVE ALL; SET GLOBAL read_only=0");
  return done;
}

// A primary that shuts down first gives its standbys all that it has written.
void shut_down(const server_info& primary) {
  const unique_fd process = hold_process(primary.pid);
  if (process) send_signal(process, SIGINT);
  if (!wait_until_ended(primary.pid, limit)) {
    throw start_error(fmt::format("{} does not end", primary.name));
  }
}

// The number of bytes of its log that a standby has; nothing if it does not answer.
std::optional<std::uint64_t> log_of(const cluster_info& cluster, const std::string& standby) {
  const std::string said = ask_postgres(
      cluster, *find(cluster, standby),
      "SELECT (greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()) - '0/0')::bigint;");
  std::uint64_t bytes = 0;
  const auto read = std::from_chars(said.data(), said.data() + said.size(), bytes);
  if (read.ec != std::errc{}) return std::nullopt;
  return bytes;
}

// The standby that has most of the log has every commit that was acknowledged; the others follow
// it.
promotion of_postgres(const cluster_info& cluster) {
  promotion done{first_of(leaders(cluster)), {}, {}};
  const server_info* const primary = find(cluster, done.from);
  const std::vector<std::string> standbys = followers(cluster);
  done.ordered = real_clock{}.now();
  if (primary != nullptr) shut_down(*primary);
  std::optional<std::uint64_t> most;
  for (const std::string& name : standbys) {
    const auto bytes = log_of(cluster, name);
    if (!bytes || (most && *bytes <= *most)) continue;
    most = bytes;
    done.to = name;
  }
  const server_info* const next = find(cluster, done.to);
  if (next == nullptr) throw start_error("no standby answers that could be promoted");
  if (!ask_postgres(cluster, *next, "SELECT pg_promote(true, 10);").starts_with("t")) {
    throw start_error(fmt::format("{} does not become the primary", next->name));
  }
  return done;
}

}  // namespace

bool can_fail_over(std::string_view topology) {
  return can_cut_replication(topology);
}

promotion fail_over(const cluster_info& cluster, std::string_view key) {
  const std::string kind = kind_of(cluster.topology);
  if (kind == "redis-sentinel") return by_sentinel(cluster);
  if (kind == "redis-cluster") return in_cluster(cluster, key);
  if (kind == "postgres-replicated") return of_postgres(cluster);
  return of_mariadb(cluster);
}

}  // namespace lockmark::local
