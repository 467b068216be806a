// Common to the tests of the command line with servers: one row for each kind, a way to inspect a
// run's leftovers, and a port that accepts and never answers.
#pragma once

#include <gmock/gmock.h>

#include <filesystem>
#include <ostream>
#include <string>

#include "deploy/local/process.hpp"
#include "harness/config/target.hpp"
#include "program/test_program.hpp"

namespace lockmark::cli {

struct backend {
  const char* topology;  // of the local cluster, and the scheme of its URL
  const char* server;    // the name of its one server
};
inline constexpr backend backends[] = {{"redis", "redis"},
                                       {"zookeeper", "zookeeper"},
                                       {"etcd", "etcd"},
                                       {"mysql", "mariadb"},
                                       {"postgres", "postgres"}};
inline void PrintTo(const backend& b, std::ostream* out) {
  *out << b.topology;
}

// A port of 127.0.0.1 that is in use for as long as the object lives.
class taken_port {
 public:
  // Listening: accepts connections and never answers; otherwise they are refused.
  explicit taken_port(bool listening);
  int number() const { return number_; }

 private:
  unique_fd socket_;
  int number_ = 0;
};

// "redis://127.0.0.1:PORT", for databases with a user and a password.
std::string url_of(const backend& b, int port);

// A text that is equal before and after a run that cleans up: Redis's keys, the number of
// ZooKeeper's nodes and of ephemeral ones, etcd's keys, a database's tables of this target, and
// whether there are advisory locks.
std::string state_of(const config::target& server, const std::filesystem::path& where);

// "lockmark: ...", one line, one sentence.
MATCHER(is_one_sentence, "") {
  const std::string& text = arg;
  return text.starts_with("lockmark: ") && text.ends_with("\n") &&
         std::count(text.begin(), text.end(), '\n') == 1;
}

// lockmark's output without its progress lines.
std::string without_progress(const std::string& err);

}  // namespace lockmark::cli
