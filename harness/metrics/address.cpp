#include "harness/metrics/address.hpp"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <fmt/core.h>

#include <charconv>
#include <memory>

#include "harness/base/errors.hpp"
#include "harness/config/parsed.hpp"

namespace lockmark::metrics {
namespace {

[[noreturn]] void refuse_listen(std::string_view text, std::string_view why) {
  throw usage_error(
      "--metrics: expected ADDRESS:PORT, such as 127.0.0.1:9464, [::1]:9464 or :9464, not {}; {}",
      config::in_quotes(text), why);
}

bool is_address(int family, const std::string& text) {
  unsigned char bytes[sizeof(in6_addr)];
  return inet_pton(family, text.c_str(), bytes) == 1;
}

// The checked host, the part before the port's colon.
std::string read_host(std::string_view text, std::string host) {
  if (host.empty()) return "0.0.0.0";
  if (host == "localhost") return "127.0.0.1";
  if (host.front() == '[' && host.back() == ']') {
    if (is_address(AF_INET6, host.substr(1, host.size() - 2))) return host;
  } else if (is_address(AF_INET, host)) {
    return host;
  }
  refuse_listen(text, "the address is no IP address, of which IPv6 stands in brackets");
}

using url_handle = std::unique_ptr<CURLU, decltype(&curl_url_cleanup)>;

// A part of a URL, percent-decoded if it belongs to the login; empty if absent.
std::string part(const url_handle& url, CURLUPart which, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url.get(), which, &text, flags) != CURLUE_OK) return {};
  std::string copy(text);
  curl_free(text);
  return copy;
}

[[noreturn]] void refuse_push(std::string_view why) {
  throw usage_error("--push: expected the URL of a Pushgateway, such as http://host:9091; {}", why);
}

}  // namespace

listen_address parse_listen(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == text.npos || text.substr(colon).find(']') != text.npos) {
    refuse_listen(text, "it has no port");
  }
  const std::string_view digits = text.substr(colon + 1);
  listen_address where;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), where.port);
  if (error != std::errc{} || end != digits.data() + digits.size() || where.port < 0 ||
      where.port > 65535) {
    refuse_listen(text, "the port is no number from 0 to 65535");
  }
  where.host = read_host(text, std::string(text.substr(0, colon)));
  return where;
}

std::string url_of(const listen_address& where) {
  std::string host = where.host;
  if (host == "0.0.0.0") host = "127.0.0.1";
  if (host == "[::]") host = "[::1]";
  return fmt::format("http://{}:{}/metrics", host, where.port);
}

gateway parse_gateway(const std::string& text) {
  const url_handle url(curl_url(), curl_url_cleanup);
  const auto scheme_end = text.find("://");
  if (scheme_end == text.npos) refuse_push("this has no http:// in front");
  const std::string scheme = text.substr(0, scheme_end);
  if (scheme != "http" && scheme != "https") {
    refuse_push("known schemes are http and https");
  }
  const CURLUcode read = curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0);
  if (read != CURLUE_OK) refuse_push(fmt::format("this is none: {}", curl_url_strerror(read)));
  if (!part(url, CURLUPART_QUERY).empty() || !part(url, CURLUPART_FRAGMENT).empty()) {
    refuse_push("nothing may follow its path");
  }
  gateway g;
  g.user = part(url, CURLUPART_USER, CURLU_URLDECODE);
  g.password = part(url, CURLUPART_PASSWORD, CURLU_URLDECODE);
  const std::string port = part(url, CURLUPART_PORT);
  std::string path = part(url, CURLUPART_PATH);
  if (path.find('@') != path.npos) {
    refuse_push("write '/', '?' and '@' in a password as %2F, %3F and %40");
  }
  while (path.ends_with('/')) path.pop_back();
  g.url = fmt::format("{}://{}{}{}{}", scheme, part(url, CURLUPART_HOST), port.empty() ? "" : ":",
                      port, path);
  return g;
}

}  // namespace lockmark::metrics
