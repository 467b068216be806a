#include "harness/agents/invitation.hpp"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <array>
#include <memory>
#include <stdexcept>

#include "harness/base/errors.hpp"

namespace lockmark::agents {
namespace {

constexpr std::string_view prefix = "lockmark-invitation-1.";
constexpr std::string_view pem_begin = "-----BEGIN CERTIFICATE-----\n";
constexpr std::string_view pem_end = "-----END CERTIFICATE-----\n";
constexpr std::size_t pem_width = 64;
constexpr long an_hour_s = 3600;  // clocks of other machines may be slow

template <auto Free>
struct freeing {
  template <class T>
  void operator()(T* p) const {
    Free(p);
  }
};
using key_ptr = std::unique_ptr<EVP_PKEY, freeing<EVP_PKEY_free>>;
using certificate_ptr = std::unique_ptr<X509, freeing<X509_free>>;
using bio_ptr = std::unique_ptr<BIO, freeing<BIO_free_all>>;
using extension_ptr = std::unique_ptr<X509_EXTENSION, freeing<X509_EXTENSION_free>>;

void need(bool went_well) {
  if (!went_well) throw std::runtime_error("OpenSSL could not make a certificate for agents");
}

std::string text_in(const bio_ptr& bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

void extend(X509* certificate, int what, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  const extension_ptr made(X509V3_EXT_conf_nid(nullptr, &context, what, value));
  need(made != nullptr && X509_add_ext(certificate, made.get(), -1) == 1);
}

certificate_ptr certify(EVP_PKEY* key, long valid_s) {
  certificate_ptr made(X509_new());
  need(made != nullptr);
  X509_set_version(made.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), -an_hour_s);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), valid_s);
  X509_set_pubkey(made.get(), key);
  X509_NAME* const name = X509_get_subject_name(made.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(coordinators_name), -1, -1, 0);
  X509_set_issuer_name(made.get(), name);
  extend(made.get(), NID_basic_constraints, "critical,CA:TRUE");
  extend(made.get(), NID_subject_alt_name, "DNS:lockmark");
  need(X509_sign(made.get(), key, EVP_sha256()) > 0);
  return made;
}

std::string random_token() {
  std::array<unsigned char, 16> bytes{};
  need(RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1);
  std::string text;
  for (const unsigned char b : bytes) {
    for (const unsigned digit : {b / 16U, b % 16U}) text += "0123456789abcdef"[digit];
  }
  return text;
}

// The base64 of a PEM text, without its frame.
std::string body_of(std::string_view pem) {
  const auto begin = pem.find(pem_begin), end = pem.find(pem_end);
  need(begin != pem.npos && end != pem.npos);
  std::string body(pem.substr(begin + pem_begin.size(), end - begin - pem_begin.size()));
  std::erase(body, '\n');
  return body;
}

std::string pem_of(std::string_view body) {
  std::string pem(pem_begin);
  for (; !body.empty(); body.remove_prefix(std::min(pem_width, body.size()))) {
    pem.append(body.substr(0, pem_width)).append("\n");
  }
  return pem.append(pem_end);
}

bio_ptr reader_of(const std::string& pem) {
  return bio_ptr(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}

// Null: it is none.
certificate_ptr certificate_of(const std::string& pem) {
  return certificate_ptr(PEM_read_bio_X509(reader_of(pem).get(), nullptr, nullptr, nullptr));
}
key_ptr key_of(const std::string& pem) {
  return key_ptr(PEM_read_bio_PrivateKey(reader_of(pem).get(), nullptr, nullptr, nullptr));
}

std::string printed(const ASN1_TIME* moment) {
  const bio_ptr bio(BIO_new(BIO_s_mem()));
  need(ASN1_TIME_print(bio.get(), moment) == 1);
  return text_in(bio);
}

void expect_valid(const X509& certificate, std::string_view where) {
  const ASN1_TIME* const end = X509_get0_notAfter(&certificate);
  if (X509_cmp_current_time(end) > 0) return;
  throw usage_error("{}: it was valid until {}; lockmark invitation makes a new one", where,
                    printed(end));
}

std::string_view without_end_of_line(std::string_view text) {
  const auto last = text.find_last_not_of(" \r\n");
  return text.substr(0, last == text.npos ? 0 : last + 1);
}

}  // namespace

identity make_identity(long valid_s) {
  const key_ptr key(EVP_EC_gen("P-256"));
  need(key != nullptr);
  const certificate_ptr certificate = certify(key.get(), valid_s);
  const bio_ptr public_part(BIO_new(BIO_s_mem())), secret_part(BIO_new(BIO_s_mem()));
  need(PEM_write_bio_X509(public_part.get(), certificate.get()) == 1);
  need(PEM_write_bio_PrivateKey(secret_part.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                nullptr) == 1);
  return {{random_token(), text_in(public_part)}, text_in(secret_part)};
}

std::string to_text(const invitation& i) {
  return std::string(prefix) + i.token + "." + body_of(i.certificate);
}

std::string to_text(const identity& who) {
  return to_text(who.guests) + "\n" + who.key;
}

invitation read_invitation(std::string_view text, std::string_view where) {
  const auto refuse = [&] {
    return usage_error(
        "{}: this is not an invitation of a coordinator: one word that begins with "
        "lockmark-invitation-1, as lockmark run --agents prints it",
        where);
  };
  text = without_end_of_line(text);
  if (!text.starts_with(prefix)) throw refuse();
  text.remove_prefix(prefix.size());
  const auto dot = text.find('.');
  if (dot == text.npos || dot == 0) throw refuse();
  invitation read{std::string(text.substr(0, dot)), pem_of(text.substr(dot + 1))};
  const certificate_ptr certificate = certificate_of(read.certificate);
  if (certificate == nullptr) throw refuse();
  expect_valid(*certificate, where);
  return read;
}

identity read_identity(std::string_view text, std::string_view where) {
  const auto refuse = [&] {
    return usage_error(
        "{}: this is not the identity of a coordinator: an invitation and the private key of its "
        "certificate, as lockmark invitation makes it",
        where);
  };
  const auto line = text.find('\n');
  if (line == text.npos || !text.starts_with(prefix)) throw refuse();
  identity read{read_invitation(text.substr(0, line), where), std::string(text.substr(line + 1))};
  const key_ptr key = key_of(read.key);
  const certificate_ptr certificate = certificate_of(read.guests.certificate);
  if (key == nullptr || X509_check_private_key(certificate.get(), key.get()) != 1) throw refuse();
  return read;
}

}  // namespace lockmark::agents
