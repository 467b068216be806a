#include "deploy/local/ask.hpp"

#include <fmt/format.h>

#include <charconv>

#include "deploy/local/shell.hpp"

namespace lockmark::local {
namespace {

constexpr duration mariadb_patience = std::chrono::seconds{10};

}  // namespace

verdict judge_info(std::string_view answer) {
  return answer.find("second_repl_offset") == answer.npos ? verdict::more : verdict::ready;
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

std::string ask_mariadb(const cluster_info& cluster, const server_info& server,
                        std::string_view statements) {
  const ran said =
      run_shell(fmt::format("cd '{}' && exec mariadb --no-defaults --user=root "
                            "--socket={}/data/mariadb.sock --connect-timeout=2 --skip-column-names "
                            "--execute=\"{}\"",
                            cluster.directory, server.name, statements),
                mariadb_patience);
  return said.status == 0 ? fmt::format("{}\n", said.output) : std::string{};
}

}  // namespace lockmark::local
