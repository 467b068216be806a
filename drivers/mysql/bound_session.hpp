// Sessions whose locks belong to connections: a connection stays with its client while it holds a
// key, and a broken connection has lost it.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "drivers/mysql/killer.hpp"
#include "drivers/mysql/table_session.hpp"

namespace lockmark::mysql {

class bound_session : public table_session {
 public:
  bound_session(const opening& o, std::string greeting)
      : table_session(o, std::move(greeting)),
        killer_(o.l, pool_.sent()),
        members_(o.who.clients) {}

  task<outcome<grant>> acquire(request r) final;
  task<outcome<nothing>> release(request r) final;
  // False while a client whose connection broke in a hold has not acquired again.
  bool alive() const final;
  task<void> close() final;

 protected:
  // Takes the key by this connection; its owner has acquired it `depth` times already.
  virtual task<outcome<grant>> take(connection& c, request r, unsigned depth) = 0;
  // Gives up one level; `depth` are left. Any ending but done means that the key was lost.
  virtual task<outcome<nothing>> give(connection& c, request r, unsigned depth) = 0;

  killer killer_;

 private:
  struct hold {
    connection* link = nullptr;
    unsigned depth = 0;  // how often its owner has acquired it
  };
  struct member {
    std::map<std::uint32_t, hold> holds;  // by key
    bool lost = false;                    // a connection broke that held a key
  };
  hold* find(request r);

  std::vector<member> members_;  // by client
};

}  // namespace lockmark::mysql
