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

// How long the server may take to answer what clears up after a wait before it counts as silent.
inline constexpr duration round_trip_limit = std::chrono::milliseconds{250};

// Asks, and waits until the deadline, or until shortly after `server_limit` if the server itself
// ends the wait then and that is about the same. Otherwise KILL QUERY ends it, whose answer proves
// that the server waits no more. When there is no such proof, the connection is cut.
task<waited> wait_for(loop& l, connection& c, killer& k, std::string sql, time_point server_limit,
                      request r);

}  // namespace lockmark::mysql
