// The description of a running cluster, and its text form: between keeper and owner, and in the
// files of `lockmark up`.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace lockmark::local {

struct server_info {
  std::string name;
  pid_t pid = 0;    // 0 if it does not run
  int port = 0;     // of 127.0.0.1
  std::string log;  // path of the server's own log
};

struct cluster_info {
  std::string topology;
  std::string target;  // the URL for drivers; may hold a password
  std::string directory;
  bool in_memory = false;  // data on tmpfs: syncing is free, durability not real
  pid_t keeper = 0;
  std::vector<server_info> servers;
};

// The way from one server of a cluster to another: a port of 127.0.0.1 on which `to` listens.
struct peer_way {
  std::string from, to;
  int port = 0;

  bool operator==(const peer_way&) const = default;
};

// A keeper's answer: the state of the cluster, or an error and the end of a server's log.
struct reply {
  cluster_info cluster;
  std::string error;  // empty if all is well
  std::string log;
  std::vector<peer_way> ways{};  // in the first answer, with a go_between (options)
};

std::string to_json(const cluster_info& cluster);
std::string to_json(const reply& answer);

// Both throw std::runtime_error unless the text was written by to_json.
cluster_info cluster_from_json(std::string_view text);
reply reply_from_json(std::string_view text);

}  // namespace lockmark::local
