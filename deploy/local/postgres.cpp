// PostgreSQL as a local server: a fresh data directory, one user, durable commits.
#include "deploy/local/postgres.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "deploy/local/servers.hpp"
#include "deploy/local/settings.hpp"
#include "harness/base/process.hpp"

namespace lockmark::local {
namespace {

// Of the Debian package.
constexpr const char* system_user = "postgres";

command make_data_directory_of(const site& where, const std::string& server) {
  std::vector<std::string> words{postgres_program(where, "initdb")};
  add_words(words, "postgres_install", {{"folder", where.folder(server).string()}});
  return {fmt::format("create the data directory of {}", server),
          unprivileged(where, std::move(words))};
}

// A copy in the server's folder, because its user may not see where the programs are.
void keep_in_session(server_spec& server, const site& where) {
  constexpr std::string_view name = "liblockmark_session.so";
  const auto original = find_helper(name);
  if (!original) return;
  const std::string copy = (where.folder(server.name) / name).string();
  server.prepare.push_back(
      {fmt::format("copy {}", name), {where.program("cp", "coreutils"), original->string(), copy}});
  server.preloaded.push_back(copy);
}

server_spec bare_server(site& where, std::string name, const postgres_account& account) {
  server_spec server;
  server.name = std::move(name);
  server.port = where.ports.take(server.name);
  server.ready = postgres_probe();
  server.time_limit = std::chrono::seconds{60};
  server.stop_signal = SIGQUIT;
  const std::filesystem::path folder = where.folder(server.name);
  server.files.push_back(
      {folder / "logins", fmt::format("*:*:*:postgres:{}\n*:*:*:replica:{}\n", account.superuser,
                                      account.replica_password)});
  keep_in_session(server, where);
  std::ranges::move(give_away(where, server.name), std::back_inserter(server.prepare));
  return server;
}

}  // namespace

std::string postgres_account::target(std::span<const server_spec> servers) const {
  return fmt::format("postgres://lockmark:{}@{}/lockmark", password, addresses_of(servers));
}

std::string postgres_program(const site& where, std::string_view name) {
  // A link to it may stand alone in PATH.
  const auto server = std::filesystem::weakly_canonical(where.program("postgres", "postgresql"));
  return (server.parent_path() / name).string();
}

std::vector<std::string> unprivileged(const site& where, std::vector<std::string> words) {
  if (geteuid() != 0) return words;
  const std::string user = fmt::format("--reuid={}", system_user);
  const std::string group = fmt::format("--regid={}", system_user);
  // Another user's processes lose the signal by which they die with the keeper.
  words.insert(words.begin(), {where.program("setpriv", "util-linux"), user, group,
                               "--clear-groups", "--pdeathsig=keep", "--"});
  return words;
}

// That user has to pass through the cluster's directory, but cannot list it.
std::vector<command> give_away(const site& where, const std::string& server) {
  if (geteuid() != 0) return {};
  const std::string folder = where.folder(server).string();
  return {{"let other users pass",
           {where.program("chmod", "coreutils"), "711", where.directory.string()}},
          {fmt::format("give {} its folder", server),
           {where.program("chown", "coreutils"), "--recursive", fmt::format("{0}:{0}", system_user),
            folder}}};
}

server_spec postgres_server(site& where, std::string name, const postgres_account& account) {
  server_spec server = bare_server(where, std::move(name), account);
  const std::filesystem::path folder = where.folder(server.name);
  server.files.push_back({folder / "password", fmt::format("{}\n", account.superuser)});
  server.files.push_back(
      {folder / "accounts.sql",
       filled("postgres_accounts",
              {{"password", account.password}, {"replica_password", account.replica_password}})});
  server.prepare.push_back(make_data_directory_of(where, server.name));
  server.prepare.push_back(sync_data_directory(where, server.name));
  return server;
}

server_spec postgres_copy(site& where, std::string name, const server_spec& original,
                          const postgres_account& account) {
  server_spec server = bare_server(where, std::move(name), account);
  const std::filesystem::path from = where.folder(original.name) / "data";
  const std::filesystem::path to = where.folder(server.name) / "data";
  server.prepare.push_back(
      {fmt::format("copy the data directory of {}", original.name),
       {where.program("cp", "coreutils"), "--archive", from.string(), to.string()}});
  return server;
}

void add_postgres_words(server_spec& server, const site& where, bool is_member) {
  std::vector<std::string> words{postgres_program(where, "postgres")};
  add_words(words, "postgres",
            {{"folder", where.folder(server.name).string()},
             {"port", server.port},
             {"is_member", is_member}});
  server.argv = unprivileged(where, std::move(words));
}

std::vector<std::string> postgres_client(const site& where, const server_spec& server) {
  // By TCP, since the path of a socket has at most 107 bytes. The password is in a file, because
  // other users could read it on a command line.
  return {where.program("env", "coreutils"),
          fmt::format("PGPASSFILE={}", (where.folder(server.name) / "logins").string()),
          postgres_program(where, "psql"),
          "--no-psqlrc",
          "--quiet",
          "--no-align",
          "--tuples-only",
          "--no-password",
          "--set=ON_ERROR_STOP=1",
          "--host=127.0.0.1",
          fmt::format("--port={}", server.port),
          "--username=postgres",
          "--dbname=postgres"};
}

command make_accounts(const site& where, const server_spec& server) {
  command c{fmt::format("make the accounts of {}", server.name), postgres_client(where, server)};
  c.argv.push_back(fmt::format("--file={}", (where.folder(server.name) / "accounts.sql").string()));
  return c;
}

plan single_postgres(site& where) {
  const postgres_account account;
  plan result;
  result.servers.push_back(postgres_server(where, "postgres", account));
  add_postgres_words(result.servers[0], where);
  result.after_start.push_back(make_accounts(where, result.servers[0]));
  result.target = account.target(result.servers);
  return result;
}

}  // namespace lockmark::local
