#include "deploy/local/ask.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "deploy/local/process.hpp"
#include "deploy/local/shell.hpp"

namespace lockmark::local {
namespace {

constexpr duration client_patience = std::chrono::seconds{10};

}  // namespace

bool eventually(const std::function<bool()>& condition, duration limit) {
  const time_point deadline = real_clock{}.now() + limit;
  while (!condition()) {
    if (real_clock{}.now() > deadline) return false;
    poll(nullptr, 0, 20);
  }
  return true;
}

verdict judge_info(std::string_view answer) {
  return answer.find("second_repl_offset") == answer.npos ? verdict::more : verdict::ready;
}

verdict judge_replication(std::string_view answer) {
  if (answer.find("second_repl_offset") == answer.npos) return verdict::more;
  const bool is_master = answer.find("role:master") != answer.npos;
  const bool is_linked = answer.find("master_link_status:up") != answer.npos;
  return is_master || is_linked ? verdict::ready : verdict::not_yet;
}

verdict judge_line(std::string_view answer) {
  return answer.find("\r\n") == answer.npos ? verdict::more : verdict::ready;
}

verdict judge_bulk(std::string_view answer) {
  if (answer.starts_with("-")) return verdict::not_yet;
  const auto end = answer.find("\r\n");
  if (end == answer.npos) return verdict::more;
  std::size_t size = 0;
  std::from_chars(answer.data() + 1, answer.data() + end, size);
  return answer.size() >= end + 2 + size + 2 ? verdict::ready : verdict::more;
}

std::vector<cluster_node> nodes_told_by(const server_info& server) {
  std::vector<cluster_node> all;
  std::istringstream lines(answer_of({"CLUSTER NODES\r\n", judge_bulk}, server.port, patience));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    cluster_node node;
    std::string address, other;  // address@bus; ping, pong, epoch, link
    words >> node.id >> address >> node.flags >> node.master >> other >> other >> other >> other;
    if (!words) continue;
    node.port = std::atoi(address.c_str() + address.find(':') + 1);
    for (std::string range; words >> range;) node.slots.push_back(range);
    all.push_back(std::move(node));
  }
  return all;
}

std::string ask_postgres(const cluster_info& cluster, const server_info& server,
                         std::string_view statements) {
  const auto program = std::filesystem::weakly_canonical(find_program("postgres", "postgresql"));
  const ran said = run_shell(
      fmt::format(
          "PGPASSFILE='{}/{}/logins' PGCONNECT_TIMEOUT=2 exec '{}/psql' --no-psqlrc --quiet "
          "--no-align --tuples-only --no-password --set=ON_ERROR_STOP=1 --host=127.0.0.1 "
          "--port={} --username=postgres --dbname=postgres <<'END'\n{}\nEND",
          cluster.directory, server.name, program.parent_path().string(), server.port, statements),
      client_patience);
  return said.status == 0 ? fmt::format("{}\n", said.output) : std::string{};
}

std::string ask_mariadb(const cluster_info& cluster, const server_info& server,
                        std::string_view statements) {
  const ran said =
      run_shell(fmt::format("cd '{}' && exec mariadb --no-defaults --user=root "
                            "--socket={}/data/mariadb.sock --connect-timeout=2 --skip-column-names "
                            "--execute=\"{}\"",
                            cluster.directory, server.name, statements),
                client_patience);
  return said.status == 0 ? fmt::format("{}\n", said.output) : std::string{};
}

}  // namespace lockmark::local
