#include "harness/async/tls_test_peer.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace lockmark {
namespace {

struct identity {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = X509_new();
  ~identity() {
    X509_free(certificate);
    EVP_PKEY_free(key);
  }
  void write(const std::filesystem::path& folder, const std::string& name) const {
    FILE* f = std::fopen((folder / (name + ".pem")).c_str(), "w");
    PEM_write_X509(f, certificate);
    std::fclose(f);
    f = std::fopen((folder / (name + ".key")).c_str(), "w");
    PEM_write_PrivateKey(f, key, nullptr, nullptr, 0, nullptr, nullptr);
    std::fclose(f);
  }
};

void extend(X509* certificate, int what, const char* value) {
  X509_EXTENSION* e = X509V3_EXT_conf_nid(nullptr, nullptr, what, value);
  X509_add_ext(certificate, e, -1);
  X509_EXTENSION_free(e);
}

void sign(identity& subject, const char* name, identity& issuer, int number) {
  X509* const c = subject.certificate;
  X509_set_version(c, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(c), number);
  X509_gmtime_adj(X509_getm_notBefore(c), -3600);
  X509_gmtime_adj(X509_getm_notAfter(c), 3600);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(c), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
  X509_set_issuer_name(c, X509_get_subject_name(issuer.certificate));
  X509_set_pubkey(c, subject.key);
  const bool is_authority = &subject == &issuer;
  extend(c, NID_basic_constraints, is_authority ? "critical,CA:TRUE" : "CA:FALSE");
  if (!is_authority) extend(c, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1");
  X509_sign(c, issuer.key, EVP_sha256());
}

}  // namespace

test_certificates::test_certificates() {
  std::string name = (std::filesystem::temp_directory_path() / "lockmark-tls-XXXXXX").string();
  folder_ = mkdtemp(name.data());
  identity authority, other, server, client;
  sign(authority, "authority", authority, 1);
  sign(other, "another authority", other, 2);
  sign(server, "server", authority, 3);
  sign(client, "client", authority, 4);
  authority.write(folder_, "ca");
  other.write(folder_, "other_ca");
  server.write(folder_, "server");
  client.write(folder_, "client");
}

test_certificates::~test_certificates() {
  std::filesystem::remove_all(folder_);
}

struct echo_server::state {
  SSL_CTX* context = SSL_CTX_new(TLS_server_method());
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  std::uint16_t port = 0;
  std::thread thread;

  void listen_anywhere() {
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof here;
    auto* const generic = reinterpret_cast<sockaddr*>(&here);
    bind(listener, generic, size);
    listen(listener, 1);
    getsockname(listener, generic, &size);
    port = ntohs(here.sin_port);
  }

  void serve() const {
    const int peer = accept(listener, nullptr, nullptr);
    SSL* const ssl = SSL_new(context);
    SSL_set_fd(ssl, peer);
    std::array<char, 4096> room;
    for (int n = SSL_accept(ssl); n > 0;) {
      n = SSL_read(ssl, room.data(), room.size());
      if (n > 0) SSL_write(ssl, room.data(), n);
    }
    // Closing with unread data would reset the connection, and the client would lose the last
    // bytes.
    while (read(peer, room.data(), room.size()) > 0) continue;
    SSL_free(ssl);
    close(peer);
  }
};

namespace {

// Agrees to "h2" where it is offered first, and to nothing else.
int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* size,
                    const unsigned char* offered, unsigned all, void* /*unused*/) {
  if (all < 3 || offered[0] != 2 || offered[1] != 'h' || offered[2] != '2') {
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  *chosen = offered + 1;
  *size = 2;
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace

echo_server::echo_server(const test_certificates& certificates, bool wants_certificate)
    : state_(std::make_unique<state>()) {
  SSL_CTX* const c = state_->context;
  SSL_CTX_use_certificate_file(c, certificates.file("server.pem").c_str(), SSL_FILETYPE_PEM);
  SSL_CTX_use_PrivateKey_file(c, certificates.file("server.key").c_str(), SSL_FILETYPE_PEM);
  if (wants_certificate) {
    SSL_CTX_load_verify_locations(c, certificates.file("ca.pem").c_str(), nullptr);
    SSL_CTX_set_verify(c, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  SSL_CTX_set_alpn_select_cb(c, choose_protocol, nullptr);
  state_->listen_anywhere();
  state_->thread = std::thread{[this] { state_->serve(); }};
}

echo_server::~echo_server() {
  shutdown(state_->listener, SHUT_RDWR);  // ends an accept() without a connection
  state_->thread.join();
  close(state_->listener);
  SSL_CTX_free(state_->context);
}

std::uint16_t echo_server::port() const {
  return state_->port;
}

}  // namespace lockmark
