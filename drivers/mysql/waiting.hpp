// Statements that wait inside the server for a lock, ended at the caller's deadline.
#pragma once

#include <string>

#include "drivers/mysql/killer.hpp"

namespace lockmark::mysql {

// How the wait ended. REQUIRES nothing of the server if `late`: it may have granted all the same.
struct waited {
  answer said;
  bool late = false;  // ended from here, because its deadline had come
};

// By when the server must have answered what clears up after a wait, or it counts as silent: a
// request's grace holds for that as well, and without one there is time for a round trip.
time_point clear_up_by(const loop& l, request r);

// Asks, and waits until the deadline, or until shortly after `server_limit` if the server itself
// ends the wait then and that is about the same. Otherwise KILL QUERY ends it, whose answer proves
// that the server waits no more. When there is no such proof, the connection is cut.
task<waited> wait_for(loop& l, connection& c, killer& k, std::string sql, time_point server_limit,
                      request r);

}  // namespace lockmark::mysql
