// The members' addresses, the login and the certificates: a target's URL, as this backend needs it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/async/tls.hpp"
#include "harness/config/target.hpp"

namespace lockmark::etcd {

struct servers {
  std::vector<config::host_port> hosts;  // at least one
  std::string user;                      // empty: nobody logs in
  std::string password;
  std::shared_ptr<const tls_context> secure;  // for HTTP/2; null: plain
  std::shared_ptr<const tls_context> secure_http1;

  // The name in error sentences, without the login: "etcd://h1:2379,h2:2379".
  std::string name() const;
};

// Reads "etcd://[user:password@]h1,h2:2379[?tls=yes...]", and the files of certificates. Throws
// usage_error with a sentence that quotes nothing that may be secret.
servers servers_at(std::string_view url);

}  // namespace lockmark::etcd
