// Sessions whose locks belong to connections: a connection stays with its client while it holds a
// key, and a broken connection has lost it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "drivers/postgres/lock_session.hpp"

namespace lockmark::postgres {

// What such a lock says to the server, and what the server means. One for all sessions of a driver.
struct bound_lock {
  statement lock;    // its value is the key's
  statement unlock;  // its value, too; answers whether there was a lock. Not of transactions
  std::vector<std::string> values;  // by request::key
  // A hold is an open transaction, begun with the lock's statement and ended by COMMIT. How often
  // its owner has acquired it is counted here; otherwise the server counts.
  bool in_transaction = false;
  bool waits = true;  // for the holder, in the server; otherwise the statement tries
  // Whether this answer is a grant. Throws no_server for one that cannot be.
  outcome<grant> (*judge)(const answer& a) = nullptr;

  statement limit{"limit", "SELECT set_config('lock_timeout', $1, $2::boolean)"};
  statement begin{"begin", "BEGIN"};
  statement commit{"commit", "COMMIT"};
  statement rollback{"rollback", "ROLLBACK"};

  // Those that its sessions need.
  std::vector<const statement*> prepared() const;
};

class bound_session final : public lock_session {
 public:
  bound_session(const opening& o, const bound_lock& how)
      : lock_session(o), lock_(how), members_(o.who.clients) {}

  task<outcome<grant>> acquire(request r) override;
  task<outcome<nothing>> release(request r) override;
  // False while a client whose connection broke in a hold has not acquired again.
  bool alive() const override;

 private:
  struct hold {
    std::uint32_t key = 0;
    connection* link = nullptr;
    unsigned depth = 0;  // how often its owner has acquired it
  };
  struct member {
    std::vector<hold> holds;
    bool lost = false;  // a connection broke that held a key
  };

  hold* find(request r);
  void forget(request r);
  void send_lock(connection& c, request r) const;
  outcome<grant> failed(connection& c, const answer& a) const;
  task<bool> undo(connection& c, request r) const;
  outcome<nothing> judge_release(connection& c, const answer& a) const;

  const bound_lock& lock_;
  std::vector<member> members_;  // by client
};

}  // namespace lockmark::postgres
