// Statements that are each a transaction of their own: what most locks in tables are made of.
#pragma once

#include <string>

#include "drivers/mysql/pool.hpp"

namespace lockmark::mysql {

class autocommit_pool {
 public:
  // `way` must outlive this.
  autocommit_pool(loop& l, route& way, const instance& who);

  // Opens one connection per client. Throws no_server.
  task<void> open(time_point deadline) { return pool_.fill(deadline); }

  // Executes one statement for the request's client. Done: the server did, or refused it as a
  // duplicate key. Refused: it certainly did not happen, `busy` where others were in its way.
  // Throws no_server ("cannot `doing`") when no later attempt can fare better.
  task<outcome<answer>> ask(request r, std::string sql, std::string_view doing);

  const endpoint& where() const { return pool_.where(); }
  void quit() { pool_.quit(); }
  const traffic& sent() const { return pool_.sent(); }

 private:
  loop& loop_;
  pool pool_;
};

}  // namespace lockmark::mysql
