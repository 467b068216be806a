// What no server may have of us, whatever it says: more than a fixed amount of memory, a file of
// this machine, a password that others could read.
//
// The client library bounds a packet only when told to, keeps the definitions of a result's columns
// for as long as a server sends them, and loads any of its plugins for the login that a server asks
// for, also those that send the password as it is.
#pragma once

#include <cstddef>

struct st_mysql;  // the library's MYSQL

namespace lockmark::mysql {

// Of a packet, for which the library keeps one buffer. With answer.hpp's rows_limit: what a
// connection can cost, whatever its server announces, is 8 MiB.
inline constexpr std::size_t packet_limit = std::size_t{4} << 20;

// Of a result. Nothing that is asked here has more; servers' own reports of themselves do.
inline constexpr unsigned columns_limit = 100;

// Between mysql_init() and the connect. `private_line`: nobody but the server that was meant can
// read along, because its certificate will be verified.
void set_limits(st_mysql& library, bool private_line);

}  // namespace lockmark::mysql
