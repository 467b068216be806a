#include "deploy/local/certificates.hpp"

#include <fmt/format.h>

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

probe tls_probe() {
  return {client_hello(), judge_tls};
}

// One shell command per certificate: `openssl req` makes a key and a request, `openssl x509` signs.
command certificate(const site& where, const std::filesystem::path& folder, std::string_view name,
                    std::string_view subject, std::string_view extension) {
  const std::string openssl = where.program("openssl", "openssl");
  const std::string key =
      fmt::format("-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout {}.key -subj /CN={}",
                  name, subject);
  const std::string script =
      name == "ca" ? fmt::format("{} req -x509 {} -days 30 -out ca.pem", openssl, key)
                   : fmt::format(
                         "{0} req {1} -out {2}.csr && printf '%s\\n' '{3}' > {2}.ext && "
                         "{0} x509 -req -in {2}.csr -CA ca.pem -CAkey ca.key -days 30 "
                         "-CAcreateserial -extfile {2}.ext -out {2}.pem",
                         openssl, key, name, extension);
  return {.purpose = fmt::format("make the certificate of {}", subject),
          .argv = {"/bin/sh", "-c", fmt::format("cd '{}' && {}", folder.string(), script)}};
}

command authority_certificate(const site& where, const std::filesystem::path& folder) {
  return certificate(where, folder, "ca", "lockmark-authority", "");
}

command server_certificate(const site& where, const std::filesystem::path& folder) {
  return certificate(where, folder, "server", "localhost",
                     "subjectAltName=DNS:localhost,IP:127.0.0.1");
}

}  // namespace lockmark::local
