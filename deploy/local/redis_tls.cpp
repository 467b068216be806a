// Redis with TLS: a fresh authority, a server certificate and a client certificate; only the user
// `lockmark` may log in, with a password that is on no command line.
#include <fmt/format.h>

#include "deploy/local/certificates.hpp"
#include "deploy/local/servers.hpp"
#include "deploy/local/settings.hpp"

namespace lockmark::local {

plan redis_tls(site& where) {
  server_spec server = redis_server(where, "redis");
  const std::filesystem::path folder = where.folder(server.name);
  server.prepare = {
      authority_certificate(where, folder),
      server_certificate(where, folder),
      certificate(where, folder, "client", "lockmark", "extendedKeyUsage=clientAuth"),
  };
  const std::string password = random_password();
  const std::string users =
      fmt::format("user default off\nuser lockmark on >{} ~* &* +@all\n", password);
  give_configuration(server, where, users);
  add_words(server.argv, "redis_tls", {{"port", server.port}, {"folder", folder.string()}});
  server.ready = tls_probe();
  plan result;
  result.target = fmt::format("rediss://lockmark:{}@127.0.0.1:{}?ca={}/ca.pem", password,
                              server.port, folder.string());
  result.servers.push_back(std::move(server));
  return result;
}

}  // namespace lockmark::local
