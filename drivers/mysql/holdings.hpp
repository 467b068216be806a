// What a session holds, where a connection that stays open is what holds it.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "drivers/mysql/pool.hpp"

namespace lockmark::mysql {

struct hold {
  connection* link = nullptr;
  unsigned depth = 0;  // how often its owner has acquired it
};

class holdings {
 public:
  // `links`, from which the connections are borrowed, must outlive this.
  holdings(pool& links, std::uint32_t clients) : links_(links), members_(clients) {}

  // The hold of the request's client on its key, if any. One whose connection has broken is lost:
  // it is noted, and its connection given back.
  hold* find(request r);

  // The connection stays with the client.
  void taken(request r, connection& c);
  // It is the caller's to give back. REQUIRES: held.
  void freed(request r) { members_[r.client].holds.erase(r.key); }
  void lost(request r) { members_[r.client].lost = true; }

  // False while a client whose connection broke in a hold has not acquired again.
  bool alive() const;

 private:
  struct member {
    std::map<std::uint32_t, hold> holds;  // by key
    bool lost = false;                    // a connection broke that held a key
  };
  pool& links_;
  std::vector<member> members_;
};

}  // namespace lockmark::mysql
