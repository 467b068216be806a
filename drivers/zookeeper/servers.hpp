// The servers' addresses and login: a target's URL, as this backend needs it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/config/target.hpp"

namespace lockmark::zookeeper {

struct servers {
  std::vector<config::host_port> hosts;  // at least one
  std::string chroot;                    // "" or "/a/b", never ends in '/'
  std::string login;                     // "user:password", or empty

  // "h1:2181,[::1]:2182", the format of the C client.
  std::string host_list() const;

  // The name in error sentences, without the login.
  std::string name() const;
};

// Reads "zookeeper://[user:password@]h1,h2:2182[/chroot]". Throws usage_error with a sentence that
// quotes nothing of the URL.
servers servers_at(std::string_view url);

}  // namespace lockmark::zookeeper
