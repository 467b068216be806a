// Readiness probes: a query to a server, and the judgement of its answer.
//
// A probe is bytes to send and a judge of the bytes received; the judges know no socket. A port
// that merely accepts connections is no answer: Redis accepts while it loads, ZooKeeper while it
// has no quorum, and a stopped process accepts for ever.
#pragma once

#include <string>
#include <string_view>

#include "harness/time/clock.hpp"

namespace lockmark::local {

enum class verdict {
  ready,    // the server serves
  more,     // the answer is incomplete so far
  not_yet,  // it answers, but is not ready to serve
};

struct probe {
  std::string question;  // empty if the server speaks first
  verdict (*judge)(std::string_view answer) = nullptr;
};

probe redis_probe();      // PING; ready at PONG
probe zookeeper_probe();  // srvr; ready once it reports its mode, which needs a quorum
// Of etcd's health: it reads from a majority; and of its status, the whole answer by HTTP.
probe etcd_probe();
probe etcd_status_probe();
probe mariadb_probe();  // waits for the handshake packet, protocol 10
// Logs in as user `probe` without a password; ready once the node reports so (wsrep_ready), that
// is, as a member of the primary component with all of its state.
probe galera_probe();

// Begins a login; ready if the server asks for a password, and does not say that it is starting.
probe postgres_probe();

// The answer itself: empty if it was not complete within time_limit, or the server was not ready.
std::string answer_of(const probe& ask, int port, duration time_limit);

// Asks once over a new connection to 127.0.0.1:port; true if the judge said ready within
// time_limit.
bool answers(const probe& ask, int port, duration time_limit);

}  // namespace lockmark::local
