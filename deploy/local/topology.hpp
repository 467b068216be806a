// Topologies: what servers stand where, as data that the keeper carries out.
//
// A topology is a name and a function that plans it into an empty directory. The plan says which
// files to write, which programs to run and how to ask whether they answer; it starts nothing.
#pragma once

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

// A program that runs to its end, such as the making of a data directory.
struct command {
  std::string purpose;  // completes "could not ...": "create the data directory of mariadb"
  std::vector<std::string> argv;
  duration time_limit = std::chrono::seconds{60};
  // Of a program that is known to crash: it is run at most so often, and what it had made till then
  // is removed before it is run again.
  int tries = 1;
  std::filesystem::path makes{};
};

struct server_spec {
  std::string name;  // unique in its topology; its folder and its log are named after it
  int port = 0;
  std::vector<text_file> files;   // written first, readable by the owner only
  std::vector<command> prepare;   // run once, in order, before the first start
  std::vector<std::string> argv;  // must stay in the foreground and log to its output
  // What is removed where it shall come back without its data, relative to its folder. None: it
  // cannot.
  std::vector<std::string> data;
  probe ready;
  // Asked besides whenever all servers run, after after_start has: whether it is what the topology
  // wants it to be, such as a member of a whole cluster. Without a judge it is not asked.
  probe joined;
  duration time_limit = std::chrono::seconds{30};  // from start to first answer
  // Where the other servers of the topology reach it, in their own protocol. None: they do not, or
  // nothing can be put between them.
  std::vector<int> peer_ports{};
};

struct plan {
  std::vector<server_spec> servers;  // all are started, then each is waited for
  std::vector<command> after_start;  // run in order once all answer: join a cluster, replicate
  std::string target;                // the URL under which drivers find it
};

// From each server to every other one, by each of that one's peer ports.
std::vector<peer_way> peer_ways(const std::vector<server_spec>& servers);

// Puts somebody between the servers: is told how they reach each other, before any of them starts,
// and says, in the same order, the ports of 127.0.0.1 that they take instead. Called in the process
// that starts the cluster, once it has forked. What it throws ends the start.
using go_between = std::function<std::vector<int>(const std::vector<peer_way>&)>;

// What a cluster can be given besides its topology.
struct options {
  std::optional<int> port = {};  // of the first server, the next ones follow it; none: free ones
  // Servers that would not keep their data over a restart, as Redis, do.
  bool keeps_data = false;
  // The preload shim (clock_shim/) that lets cluster::jump_clock() work; empty: none is loaded.
  std::string clock_shim = {};
  // Both or none; the preload shim (link_shim/) is what takes the servers there.
  go_between between = {};
  std::string link_shim = {};
};

// Where a plan is to stand, and where its programs are found.
struct site {
  std::filesystem::path directory;  // absolute, exists, the owner's alone
  port_source& ports;
  std::string (*program)(std::string_view name, std::string_view package) = find_program;
  std::string (*needed_file)(std::string_view path, std::string_view package) = need_file;
  bool keeps_data = false;  // see options

  std::filesystem::path folder(std::string_view server) const { return directory / server; }
  std::filesystem::path log(std::string_view server) const;
};

struct topology {
  std::string name;
  std::string summary;
  std::function<plan(site&)> make;
};

// The table of all topologies, in the order in which they are listed.
std::vector<topology> topologies();

// The row of that name; throws start_error listing the known names.
topology find_topology(std::string_view name);

}  // namespace lockmark::local
