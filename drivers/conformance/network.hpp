// A target's servers behind proxies, and the URL that leads to them.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "drivers/conformance/proxy.hpp"
#include "harness/config/target.hpp"

namespace lockmark::conformance {

// The parts of scheme://[user:password@]host[:port],...[/path][?name=value&...] that proxies
// replace, and the rest as written, so that passwords survive.
struct url_parts {
  std::string scheme;    // with "://"
  std::string userinfo;  // with "@", or empty
  std::vector<config::host_port> hosts;
  std::string path;                                    // with "/", or empty
  std::vector<std::string> query;                      // "name=value", without nat
  std::map<config::host_port, config::host_port> nat;  // as in config::target

  std::string to_string() const;
};

// Throws std::runtime_error unless it is a network target (harness/config/target.hpp).
url_parts split_url(const std::string& url);

// A proxy for each server of a URL: its hosts, those that its nat names, and `hidden` ones, which
// drivers find through other servers ("127.0.0.1:7001": the name by which they do). The proxied URL
// has the proxies' addresses instead of the hosts, and, if there are hidden servers, a nat for all
// of them, since a hidden one may also be a host.
class shaky_network {
 public:
  shaky_network(const std::string& url, const std::vector<std::string>& hidden);

  // For all servers together, or for one host of the URL; in force when this returns.
  void set(proxy_mode m) { proxies_.set(m); }
  void set_host(std::size_t which, proxy_mode m);
  std::size_t hosts() const { return host_proxies_.size(); }

  // The URL through the proxies.
  const url_parts& url() const { return url_; }

  // Whether an error sentence names any of the servers or proxies.
  bool is_named_in(std::string_view sentence) const;

 private:
  struct plan;
  explicit shaky_network(plan p);

  url_parts url_;
  std::vector<std::string> names_;         // of all servers and all proxies, as in error sentences
  std::vector<std::size_t> host_proxies_;  // by host of the URL
  proxies proxies_;
};

}  // namespace lockmark::conformance
