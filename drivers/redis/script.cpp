#include "drivers/redis/script.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/evp.h>

#include <stdexcept>

namespace lockmark::redis {
namespace {

std::string sha1_of(std::string_view text) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  if (EVP_Digest(text.data(), text.size(), digest, &size, EVP_sha1(), nullptr) != 1) {
    throw std::runtime_error("OpenSSL has no SHA-1, by which Redis names its scripts");
  }
  return fmt::format("{:02x}", fmt::join(digest, digest + size, ""));
}

}  // namespace

script::script(std::string_view lua) : text(lua), sha1(sha1_of(lua)) {}

std::string as_eval(std::string_view evalsha, const script& s) {
  const std::string replaced = fmt::format("$7\r\nEVALSHA\r\n$40\r\n{}\r\n", s.sha1);
  const auto at = evalsha.find(replaced);
  if (at == evalsha.npos) throw std::logic_error("as_eval() was given another command");
  return fmt::format("{}$4\r\nEVAL\r\n${}\r\n{}\r\n{}", evalsha.substr(0, at), s.text.size(),
                     s.text, evalsha.substr(at + replaced.size()));
}

}  // namespace lockmark::redis
