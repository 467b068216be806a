// What the sessions of all locks on PostgreSQL share: their connections, and statements that are
// each a transaction of their own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "drivers/postgres/pool.hpp"

namespace lockmark::postgres {

// The surroundings of a new session. All but `who` outlive it.
struct opening {
  loop& l;
  route& way;
  const greeting& hello;
  const instance& who;
};

class lock_session : public session {
 public:
  explicit lock_session(const opening& o);

  // Opens one connection per client. Called once, first. Throws no_server.
  virtual task<void> connect(time_point deadline) { return pool_.fill(deadline); }

  task<outcome<grant>> renew(request) override { co_return refusal::not_owner; }
  bool alive() const override { return true; }  // rows outlive connections
  task<void> close() override;
  traffic sent() const override { return pool_.sent(); }

 protected:
  // Executes one statement for the request's client. Done: the server did. Refused: it certainly
  // did not happen; `busy` if others were in its way. Throws no_server ("cannot `doing`") if no
  // later attempt can fare better. The step's values must stay until the end.
  task<outcome<answer>> ask(request r, step s, std::string_view doing);

  // The same for a change of rows: refused as `none` if there were no such rows, as unavailable if
  // others were in its way.
  task<outcome<nothing>> change(request r, step s, std::string_view doing, refusal none);

  // As stored in rows.
  const std::string& owner(request r) const { return owners_[r.client]; }

  loop& loop_;
  pool pool_;

 private:
  std::vector<std::string> owners_;  // by client
};

}  // namespace lockmark::postgres
