// What the options of the exporter say, as typed values: where to listen, where to push.
#pragma once

#include <string>
#include <string_view>

namespace lockmark::metrics {

// "127.0.0.1:9464", "[::1]:9464", ":9464" (every address of this machine); port 0 is any free one.
struct listen_address {
  std::string host;  // as a URL has it: IPv6 in brackets
  int port = 0;
};

// Throws usage_error.
listen_address parse_listen(std::string_view text);

// Where somebody on this machine finds it.
std::string url_of(const listen_address& where);

// "http://[user:password@]host[:port][/path]", or https.
struct gateway {
  std::string url;  // without the login and without a slash at its end
  std::string user, password;
};

// Throws usage_error, which never shows a password.
gateway parse_gateway(const std::string& text);

}  // namespace lockmark::metrics
