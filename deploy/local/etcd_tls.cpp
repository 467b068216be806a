// etcd with TLS: a fresh authority and a server certificate; only the user `lockmark` may log in,
// may use keys that begin with "lockmark/", and has a password that is on no command line.
#include <fmt/format.h>

#include "deploy/local/certificates.hpp"
#include "deploy/local/servers.hpp"
#include "deploy/local/settings.hpp"

namespace lockmark::local {

plan etcd_tls(site& where) {
  server_spec server = etcd_server(where, "etcd");
  const std::filesystem::path folder = where.folder(server.name);
  server.prepare = {
      authority_certificate(where, folder),
      server_certificate(where, folder),
  };
  const int peer_port = where.ports.take(server.name);
  const json settings{{"name", server.name},
                      {"folder", folder.string()},
                      {"scheme", "https"},
                      {"port", server.port},
                      {"peer_port", peer_port},
                      {"members", fmt::format("{}=http://127.0.0.1:{}", server.name, peer_port)},
                      {"token", peer_port}};
  add_words(server.argv, "etcd", settings);
  add_words(server.argv, "etcd_tls", settings);
  server.ready = tls_probe();
  const std::string password = random_password();
  const std::filesystem::path users = folder / "users.sh";
  server.files.push_back(
      {users, filled("etcd_users", {{"etcdctl", where.program("etcdctl", "etcd-client")},
                                    {"folder", folder.string()},
                                    {"port", server.port},
                                    {"password", password}})});
  plan result;
  result.after_start.push_back(
      {"add the users of etcd", {where.program("sh", "dash"), users.string()}});
  result.target = fmt::format("etcd://lockmark:{}@127.0.0.1:{}?tls=yes&ca={}/ca.pem", password,
                              server.port, folder.string());
  result.servers.push_back(std::move(server));
  return result;
}

}  // namespace lockmark::local
