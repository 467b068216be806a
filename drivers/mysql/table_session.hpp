// What the sessions of all locks on MySQL share: their connections, and statements that are each a
// transaction of their own.
#pragma once

#include <string>
#include <string_view>

#include "drivers/mysql/pool.hpp"
#include "drivers/mysql/tables.hpp"

namespace lockmark::mysql {

// The surroundings of a new session. All but `who` outlive it.
struct opening {
  loop& l;
  route& way;
  const table& rows;
  const instance& who;
};

class table_session : public session {
 public:
  // `greeting` is the first statement on every new connection.
  explicit table_session(const opening& o, std::string greeting = "SET SESSION autocommit=1")
      : loop_(o.l), rows_(o.rows), id_(o.who.id), pool_(o.l, o.way, std::move(greeting), o.who) {}

  // Opens one connection per client. Called once, first. Throws no_server.
  virtual task<void> connect(time_point deadline) { return pool_.fill(deadline); }

  task<outcome<grant>> renew(request) override { co_return refusal::not_owner; }
  bool alive() const override { return true; }  // rows outlive connections
  task<void> close() override;
  traffic sent() const override { return pool_.sent(); }

 protected:
  // Executes one statement for the request's client. Done: the server did, or refused it as a
  // duplicate key. Refused: it certainly did not happen; `busy` if others were in its way.
  // Throws no_server ("cannot `doing`") if no later attempt can fare better.
  task<outcome<answer>> ask(request r, std::string sql, std::string_view doing);

  // The same for a change of rows: refused as `none` if there were no such rows, and as `busy` if
  // others were in its way.
  task<outcome<nothing>> change(request r, std::string sql, std::string_view doing, refusal none,
                                refusal busy = refusal::unavailable);

  // The request's owner, as a literal.
  std::string owner(request r) const { return literal(owner_name(id_, r.client)); }

  loop& loop_;
  const table& rows_;
  const std::string id_;
  pool pool_;
};

}  // namespace lockmark::mysql
