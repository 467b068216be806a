// Sessions whose locks belong to connections: a connection stays with its client while it holds a
// key, and a broken connection has lost it.
#pragma once

#include <cstdint>
#include <vector>

#include "drivers/postgres/lock_session.hpp"

namespace lockmark::postgres {

// The statements around those that take a lock. One set for all sessions of a driver.
struct frame {
  statement limit{"limit", "SELECT set_config('lock_timeout', $1, $2::boolean)"};
  statement begin{"begin", "BEGIN"};
  statement commit{"commit", "COMMIT"};
  statement rollback{"rollback", "ROLLBACK"};
};

class bound_session : public lock_session {
 public:
  bound_session(const opening& o, const frame& around)
      : lock_session(o), frame_(around), members_(o.who.clients) {}

  task<outcome<grant>> acquire(request r) final;
  task<outcome<nothing>> release(request r) final;
  // False while a client whose connection broke in a hold has not acquired again.
  bool alive() const final;

 protected:
  // Takes the key by this connection; its owner has acquired it `depth` times already.
  virtual task<outcome<grant>> take(connection& c, request r, unsigned depth) = 0;
  // Gives up one level; `depth` are left. Any ending but done means that the key was lost.
  virtual task<outcome<nothing>> give(connection& c, request r, unsigned depth) = 0;

  // Sends the statement that takes a lock, in a transaction if so. If it waits, the server itself
  // ends the wait at the request's deadline, rounded up to a millisecond: lock_timeout is set
  // beforehand, in the same round trip, unless it is right (within 10 ms) already.
  void send_lock(connection& c, request r, const step& lock, bool in_transaction, bool waits);
  // Until when to wait for the answer to that.
  time_point lock_answer_by(request r) const;

  // What it means that a lock was not taken because of this error, which ends the lock's statement
  // but not its transaction. Throws no_server ("cannot `doing`").
  outcome<grant> failed(connection& c, const answer& a, bool waits, std::string_view doing) const;

  // For locks that end with their transaction.
  task<outcome<nothing>> commit(connection& c, request r);
  // Ends a transaction in which nothing was taken, because of `why`.
  task<outcome<grant>> roll_back(connection& c, request r, outcome<grant> why);

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

  const frame& frame_;
  std::vector<member> members_;  // by client
};

}  // namespace lockmark::postgres
