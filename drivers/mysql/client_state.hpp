// What both libraries have by the same names, and the rest derives from. Only for the client's own
// files: it includes the library's header.
#pragma once

#include <mysql.h>

namespace lockmark::mysql {

struct client_state {
  enum class call { none, log_in, query, fetch };

  client_state() = default;
  virtual ~client_state() = default;
  client_state(const client_state&) = delete;
  client_state& operator=(const client_state&) = delete;

  MYSQL* library = nullptr;  // null: it has said goodbye
  MYSQL_RES* result = nullptr;
  MYSQL_ROW row = nullptr;
  call now = call::none;  // the last that was begun
};

}  // namespace lockmark::mysql
