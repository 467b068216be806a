// Ready probes: how one asks a server whether it answers, and how one reads the answer.
//
// A probe is bytes to send and a judge of the bytes received; the judges know no socket. A port
// that merely accepts connections is not an answer: Redis accepts while it loads, ZooKeeper while
// it has no quorum, and a stopped process accepts for ever.
#pragma once

#include <string>
#include <string_view>

#include "harness/time/clock.hpp"

namespace lockmark::local {

enum class verdict {
  ready,    // the server serves
  more,     // the answer is not whole yet
  not_yet,  // it answers, but not as a server that serves
};

struct probe {
  std::string question;  // empty where the server speaks first
  verdict (*judge)(std::string_view answer) = nullptr;
};

probe redis_probe();      // PING; ready at PONG
probe zookeeper_probe();  // srvr; ready once it names its mode, which it has only with a quorum
probe mariadb_probe();    // waits for the handshake packet, protocol 10
// Logs in as user `probe` without a password; ready once the node says so (wsrep_ready), which it
// does as a member of the primary component that has all of its state.
probe galera_probe();

// The same, with the answer: empty where none came whole within time_limit, or not as one of a
// server that serves.
std::string answer_of(const probe& ask, int port, duration time_limit);

// Asks once over a new connection to 127.0.0.1:port; true when the judge said ready within
// time_limit.
bool answers(const probe& ask, int port, duration time_limit);

}  // namespace lockmark::local
