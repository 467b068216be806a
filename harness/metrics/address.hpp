// The exporter's options as typed values: where to listen, where to push.
#pragma once

#include <string>
#include <string_view>

namespace lockmark::metrics {

// "127.0.0.1:9464", "[::1]:9464", ":9464" (every address of this machine); port 0: any free one.
struct listen_address {
  std::string host;  // in URL form: IPv6 in brackets
  int port = 0;
};

// Throws usage_error.
listen_address parse_listen(std::string_view text);

// The endpoint's URL for clients on this machine.
std::string url_of(const listen_address& where);

// "http://[user:password@]host[:port][/path]", or https.
struct gateway {
  std::string url;  // without the login and without a trailing slash
  std::string user, password;
};

// Throws usage_error, which never shows a password.
gateway parse_gateway(const std::string& text);

}  // namespace lockmark::metrics
