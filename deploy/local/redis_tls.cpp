// Redis with TLS: a fresh authority, a server certificate and a client certificate; only the user
// `lockmark` may log in, with a password that is on no command line.
#include <fmt/format.h>

#include "deploy/local/certificates.hpp"
#include "deploy/local/servers.hpp"
#include "deploy/local/settings.hpp"

namespace lockmark::local {
namespace {

// A ClientHello of TLS 1.2 that offers one cipher and nothing else. A TLS server answers with a
// handshake (22) or an alert (21).
std::string client_hello() {
  std::string hello("\x16\x03\x01\x00\x2d\x01\x00\x00\x29\x03\x03", 11);
  hello.append(32, 'r');  // the client's random bytes
  hello.append("\x00\x00\x02\xc0\x2f\x01\x00", 7);
  return hello;
}

verdict judge_tls(std::string_view answer) {
  if (answer.empty()) return verdict::more;
  return answer[0] == 21 || answer[0] == 22 ? verdict::ready : verdict::not_yet;
}

}  // namespace

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
  server.ready = {client_hello(), judge_tls};
  plan result;
  result.target = fmt::format("rediss://lockmark:{}@127.0.0.1:{}?ca={}/ca.pem", password,
                              server.port, folder.string());
  result.servers.push_back(std::move(server));
  return result;
}

}  // namespace lockmark::local
