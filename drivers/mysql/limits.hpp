// Things that no server gets from us, whatever it says: more than a fixed amount of memory, a local
// file, a password that others could read.
//
// The client library limits packets only if told to, keeps the definitions of a result's columns
// for as long as a server sends them, and loads any plugin that a server asks for at login, even
// those that send the password in plain text.
#pragma once

#include <cstddef>

struct st_mysql;  // the library's MYSQL

namespace lockmark::mysql {

// Bytes of a packet, for which the library keeps one buffer. With rows_limit (answer.hpp) a
// connection costs at most 8 MiB, whatever its server announces.
inline constexpr std::size_t packet_limit = std::size_t{4} << 20;

// Columns of a result. No statement here has more; servers' own status reports do.
inline constexpr unsigned columns_limit = 100;

// Called between mysql_init() and the connect. `private_line`: only the intended server can read
// the login, because its certificate will be verified.
void set_limits(st_mysql& library, bool private_line);

}  // namespace lockmark::mysql
