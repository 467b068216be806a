// MariaDB with TLS, with a fresh certificate from a certification authority of its own, whose
// certificate is named in the target. Passwords are refused without TLS.
#include <fmt/format.h>

#include "deploy/local/mariadb.hpp"
#include "deploy/local/servers.hpp"

namespace lockmark::local {
namespace {

command openssl(const site& where, std::string purpose, std::vector<std::string> words) {
  words.insert(words.begin(), where.program("openssl", "openssl"));
  return {std::move(purpose), std::move(words)};
}

void make_certificates(const site& where, server_spec& server) {
  const auto file = [&](std::string_view name) {
    return (where.folder(server.name) / name).string();
  };
  server.files.push_back({file("names.cnf"), "subjectAltName=IP:127.0.0.1,DNS:localhost\n"});
  server.prepare.push_back(
      openssl(where, "make a certification authority",
              {"req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj",
               "/CN=lockmark local CA", "-keyout", file("ca-key.pem"), "-out", file("ca.pem")}));
  server.prepare.push_back(
      openssl(where, "make the server's key",
              {"req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-keyout",
               file("server-key.pem"), "-out", file("server.csr")}));
  server.prepare.push_back(
      openssl(where, "sign the server's certificate",
              {"x509", "-req", "-in", file("server.csr"), "-CA", file("ca.pem"), "-CAkey",
               file("ca-key.pem"), "-CAcreateserial", "-days", "30", "-extfile", file("names.cnf"),
               "-out", file("server.pem")}));
  server.argv.push_back(fmt::format("--ssl-ca={}", file("ca.pem")));
  server.argv.push_back(fmt::format("--ssl-cert={}", file("server.pem")));
  server.argv.push_back(fmt::format("--ssl-key={}", file("server-key.pem")));
  server.argv.push_back("--require-secure-transport=ON");
}

}  // namespace

plan tls_mariadb(site& where) {
  const mariadb_account account;
  plan result;
  result.servers.push_back(mariadb_server(where, "mariadb", account.sql()));
  server_spec& server = result.servers[0];
  add_mariadb_words(server, where);
  make_certificates(where, server);
  result.target = fmt::format("{}?tls=yes&ca={}", account.target("mysql", result.servers),
                              (where.folder(server.name) / "ca.pem").string());
  return result;
}

}  // namespace lockmark::local
