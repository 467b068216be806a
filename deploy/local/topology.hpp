// Topologies: the servers of a cluster as data, which the keeper carries out.
//
// A topology is a name and a function that plans it into an empty directory. The plan lists the
// files to write, the programs to run and their readiness probes; it starts nothing.
#pragma once

#include <csignal>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "deploy/local/ports.hpp"
#include "deploy/local/probe.hpp"
#include "deploy/local/process.hpp"
#include "deploy/local/record.hpp"
#include "harness/time/clock.hpp"

namespace lockmark::local {

struct text_file {
  std::filesystem::path path;
  std::string text;
};

// A program that runs to completion, such as the creation of a data directory.
struct command {
  std::string purpose;  // completes "could not ...": "create the data directory of mariadb"
  std::vector<std::string> argv;
  duration time_limit = std::chrono::seconds{60};
  // For a program that is known to crash: it is run at most this often, and its leftovers are
  // removed before each retry.
  int tries = 1;
  std::filesystem::path makes{};
};

struct server_spec {
  std::string name;  // unique in its topology; its folder and its log are named after it
  int port = 0;
  std::vector<text_file> files;   // written first, readable by the owner only
  std::vector<command> prepare;   // run once, in order, before the first start
  std::vector<std::string> argv;  // must stay in the foreground and log to its output
  // Paths removed for a restart without data, relative to its folder. None: it cannot restart
  // without.
  std::vector<std::string> data;
  probe ready;  // without a judge it is not waited for: after_start has to
  // Also probed whenever all servers run, once after_start has: whether the server has the state
  // that the topology requires, such as membership in a complete cluster. Not probed without a
  // judge.
  probe joined;
  duration time_limit = std::chrono::seconds{30};  // from start to first answer
  int stop_signal = SIGTERM;  // ends it at once, also with clients; within 5 s, or it is killed
  // The ports for the other servers of the topology, in their own protocol. None: there is no such
  // traffic, or it cannot be proxied.
  std::vector<int> peer_ports{};
  std::vector<std::string> preloaded{};  // libraries, which its user can read
};

struct plan {
  std::vector<server_spec> servers;  // all are started, then each is awaited
  std::vector<command> after_start;  // run in order once all answer: join a cluster, replicate
  std::string target;                // the URL under which drivers find it
};

// From each server to each other one, through each of that one's peer ports.
std::vector<peer_way> peer_ways(const std::vector<server_spec>& servers);

// Inserts proxies between the servers: gets the ways between them before any of them starts, and
// returns, in the same order, the ports of 127.0.0.1 to use instead. Called in the process that
// starts the cluster, once it has forked. An exception ends the start.
using go_between = std::function<std::vector<int>(const std::vector<peer_way>&)>;

// Options of a cluster besides its topology.
struct options {
  std::optional<int> port = {};  // of the first server, then successors; none: free ones
  // For servers that do not keep their data across a restart by default, such as Redis.
  bool keeps_data = false;
  // The preload shim (clock_shim/) that makes cluster::jump_clock() work; empty: none is loaded.
  std::string clock_shim = {};
  // Both or none; the preload shim (link_shim/) redirects the servers to those ports.
  go_between between = {};
  std::string link_shim = {};
};

// The place of a plan, and the look-up of its programs.
struct site {
  std::filesystem::path directory;  // absolute, exists, private to the owner
  port_source& ports;
  using look_up = std::function<std::string(std::string_view name, std::string_view package)>;
  look_up program = find_program;
  look_up needed_file = need_file;
  bool keeps_data = false;  // see options

  std::filesystem::path folder(std::string_view server) const { return directory / server; }
  std::filesystem::path log(std::string_view server) const;
};

struct topology {
  std::string name;
  std::string summary;
  std::function<plan(site&)> make;
};

// The table of all topologies, in listing order.
std::vector<topology> topologies();

// The row of that name, or for NAME@VERSION with that version's programs (versions.hpp); throws
// start_error that lists the known names.
topology find_topology(std::string_view name);

}  // namespace lockmark::local
