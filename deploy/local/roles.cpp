#include "deploy/local/roles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "deploy/local/ask.hpp"
#include "deploy/local/error.hpp"
#include "deploy/local/probe.hpp"
#include "deploy/local/versions.hpp"

namespace lockmark::local {
namespace {

enum class role { none, leads, follows };

verdict judge_two_lines(std::string_view answer) {
  const auto first = answer.find("\r\n");
  if (first == answer.npos) return verdict::more;
  return answer.find("\r\n", first + 2) == answer.npos ? verdict::more : verdict::ready;
}

// "*2\r\n$9\r\n127.0.0.1\r\n$4\r\n6379\r\n", or "*-1\r\n"
verdict judge_address(std::string_view answer) {
  if (answer.starts_with("*-1") || answer.starts_with("-")) return verdict::not_yet;
  return std::count(answer.begin(), answer.end(), '\n') == 5 ? verdict::ready : verdict::more;
}

bool is(const cluster_info& cluster, std::string_view kind) {
  return kind_of(cluster.topology).starts_with(kind);
}

// In JSON, whose numbers of 64 bits are strings: of {"leader":"123"} the digits; empty: none.
std::string number_at(const std::string& json, std::string_view name) {
  const std::string before = fmt::format("\"{}\":\"", name);
  const auto at = json.find(before);
  if (at == json.npos) return {};
  const auto begin = at + before.size();
  return json.substr(begin, json.find('"', begin) - begin);
}

role role_of(const cluster_info& cluster, const server_info& server) {
  const auto either = [](bool known, bool leads) {
    return !known ? role::none : leads ? role::leads : role::follows;
  };
  if (is(cluster, "redis-sentinel") || is(cluster, "redis-cluster")) {
    const std::string said = answer_of({"INFO replication\r\n", judge_info}, server.port, patience);
    return either(!said.empty(), said.find("role:master") != said.npos);
  }
  if (is(cluster, "zookeeper-")) {
    const std::string said = answer_of(zookeeper_probe(), server.port, patience);
    return either(!said.empty(), said.find("Mode: leader") != said.npos);
  }
  if (is(cluster, "etcd-")) {
    const std::string said = answer_of(etcd_status_probe(), server.port, patience);
    const std::string leader = number_at(said, "leader");
    return either(!leader.empty(), leader == number_at(said, "member_id"));
  }
  if (is(cluster, "mysql-replicated")) {
    const std::string said = ask_mariadb(cluster, server, "SELECT @@read_only");
    return either(!said.empty(), said.starts_with("0"));
  }
  if (is(cluster, "postgres-replicated")) {
    const std::string said = ask_postgres(cluster, server, "SELECT pg_is_in_recovery();");
    return either(!said.empty(), said.starts_with("f"));
  }
  return role::leads;
}

// The port of the master according to a sentinel; 0: none. A master that was cut off or is paused
// may still consider itself one.
int agreed_master(const cluster_info& cluster) {
  for (const server_info& server : cluster.servers) {
    if (serves(server)) continue;
    const std::string said = answer_of(
        {"SENTINEL GET-MASTER-ADDR-BY-NAME lockmark\r\n", judge_address}, server.port, patience);
    if (said.size() < 4) continue;
    const auto begin = said.rfind('\n', said.size() - 3) + 1;
    int port = 0;
    std::from_chars(said.data() + begin, said.data() + said.size(), port);
    if (port != 0) return port;
  }
  return 0;
}

std::vector<std::string> with_role(const cluster_info& cluster, role wanted) {
  std::vector<std::string> names;
  for (const server_info& server : cluster.servers) {
    if (serves(server) && role_of(cluster, server) == wanted) names.push_back(server.name);
  }
  return names;
}

const server_info* at_port(const cluster_info& cluster, int port) {
  const auto found = std::ranges::find(cluster.servers, port, &server_info::port);
  return found == cluster.servers.end() ? nullptr : &*found;
}

// "SLOT", "FIRST-LAST" or, for a slot that is migrating, "[...]".
bool covers(const std::string& range, int slot) {
  int first = -1;
  const char* const end = range.data() + range.size();
  const auto [rest, error] = std::from_chars(range.data(), end, first);
  if (error != std::errc{}) return false;
  int last = first;
  if (rest != end && *rest == '-') std::from_chars(rest + 1, end, last);
  return first <= slot && slot <= last;
}

// An order in the words of each kind of server.
struct order {
  std::string redis;
  std::string_view mariadb, postgres;
};

// True if at least one server accepted it.
bool tell_everybody(const cluster_info& cluster, const order& what, role whom) {
  bool any = false;
  for (const server_info& server : cluster.servers) {
    if (!serves(server)) continue;
    const bool by_sql = is(cluster, "mysql") || is(cluster, "postgres");
    if (by_sql && whom != role::none && role_of(cluster, server) != whom) continue;
    if (is(cluster, "mysql")) {
      any = !ask_mariadb(cluster, server, what.mariadb).empty() || any;
    } else if (is(cluster, "postgres")) {
      any = !ask_postgres(cluster, server, what.postgres).empty() || any;
    } else {
      const std::string said = answer_of({what.redis, judge_two_lines}, server.port, patience);
      any = said.starts_with("+OK") || any;
    }
  }
  return any;
}

}  // namespace

bool serves(const server_info& server) {
  return !server.name.starts_with("sentinel");
}

std::vector<std::string> leaders(const cluster_info& cluster) {
  if (is(cluster, "redis-sentinel")) {
    const server_info* agreed = at_port(cluster, agreed_master(cluster));
    if (agreed != nullptr) return {agreed->name};
  }
  return with_role(cluster, role::leads);
}

std::vector<std::string> followers(const cluster_info& cluster) {
  return with_role(cluster, role::follows);
}

std::string owner_of(const cluster_info& cluster, std::string_view key) {
  for (const server_info& server : cluster.servers) {
    const std::string slot_line =
        answer_of({fmt::format("CLUSTER KEYSLOT {}\r\n", key), judge_line}, server.port, patience);
    if (!slot_line.starts_with(":")) continue;
    const int slot = std::stoi(slot_line.substr(1));
    for (const cluster_node& node : nodes_told_by(server)) {
      const bool serves_it = node.is("master") && !node.is("fail") &&
                             std::ranges::any_of(node.slots, [slot](const auto& range) {
                               return covers(range, slot);
                             });
      const server_info* owner = serves_it ? at_port(cluster, node.port) : nullptr;
      if (owner != nullptr) return owner->name;
    }
  }
  return {};
}

bool can_partition(std::string_view topology) {
  return kind_of(topology).starts_with("zookeeper-");
}

bool elects_leader(std::string_view topology) {
  const std::string kind = kind_of(topology);
  return kind.starts_with("zookeeper-") || kind.starts_with("etcd-");
}

bool can_cut_replication(std::string_view topology) {
  const std::string kind = kind_of(topology);
  return kind == "redis-sentinel" || kind == "redis-cluster" || kind == "mysql-replicated" ||
         kind == "postgres-replicated";
}

void cut_replication(const cluster_info& cluster) {
  const order stop{"ACL SETUSER default -psync -sync\r\nCLIENT KILL TYPE replica\r\n",
                   "STOP SLAVE IO_THREAD",
                   "ALTER SYSTEM SET primary_conninfo = ''; SELECT pg_reload_conf();"};
  const bool done = tell_everybody(cluster, stop, role::follows);
  if (!done)
    throw start_error(fmt::format("the replication of {} could not be cut", cluster.topology));
}

void mend_replication(const cluster_info& cluster) {
  const order go_on{"ACL SETUSER default +psync +sync\r\nPING\r\n", "START SLAVE IO_THREAD",
                    "ALTER SYSTEM RESET primary_conninfo; SELECT pg_reload_conf();"};
  const bool done = tell_everybody(cluster, go_on, role::none);
  if (!done)
    throw start_error(fmt::format("the replication of {} could not be mended", cluster.topology));
}

}  // namespace lockmark::local
