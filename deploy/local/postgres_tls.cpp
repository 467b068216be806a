// PostgreSQL with TLS, with a fresh certificate from a certification authority of its own, whose
// certificate is named in the target. Without TLS nobody is let in.
#include <fmt/format.h>

#include "deploy/local/certificates.hpp"
#include "deploy/local/postgres.hpp"
#include "deploy/local/servers.hpp"
#include "deploy/local/settings.hpp"

namespace lockmark::local {
namespace {

// The key has to be the server's own user's.
command by_its_user(const site& where, command c) {
  c.argv = unprivileged(where, std::move(c.argv));
  return c;
}

}  // namespace

plan tls_postgres(site& where) {
  const postgres_account account;
  plan result;
  result.servers.push_back(postgres_server(where, "postgres", account));
  server_spec& server = result.servers[0];
  const std::filesystem::path folder = where.folder(server.name);
  // Who asks only whether the server is ready is asked for a password, too.
  server.files.push_back({folder / "hba.conf",
                          "hostssl all all 127.0.0.1/32 scram-sha-256\n"
                          "hostnossl all probe 127.0.0.1/32 scram-sha-256\n"});
  server.prepare.push_back(by_its_user(where, authority_certificate(where, folder)));
  server.prepare.push_back(by_its_user(where, server_certificate(where, folder)));
  add_postgres_words(server, where);
  add_words(server.argv, "postgres_tls", {{"folder", folder.string()}});
  result.after_start.push_back(make_accounts(where, server));
  result.target = fmt::format("{}?sslmode=verify-full&ca={}", account.target(result.servers),
                              (folder / "ca.pem").string());
  return result;
}

}  // namespace lockmark::local
