// The command connections of one session: at least one per client, opened again when broken.
//
// A client that holds several keys at once has a connection for each, because a transaction frees
// all its locks together. Does not know the purpose of the connections.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "drivers/postgres/route.hpp"

namespace lockmark::postgres {

class pool {
 public:
  // `way` and `hello` must outlive this.
  pool(loop& l, route& way, const greeting& hello, const instance& who);

  // Opens one connection per client. Throws no_server.
  task<void> fill(time_point deadline);

  // An idle and sound connection of this client, reserved until given back. Null: there is none.
  connection* at_hand(std::uint32_t client);

  // The same, opened if need be. Refuses as unavailable. Throws no_server if later logins will fail
  // too.
  task<outcome<connection*>> borrow(std::uint32_t client, time_point deadline);
  void give_back(std::uint32_t client, const connection& c);

  void quit();

  traffic sent() const;

 private:
  struct place {
    std::unique_ptr<connection> link;
    bool lent = false;
    bool was_connected = false;
  };
  bool is_sound(place& p) const;
  task<reached> make_ready(place& p, time_point deadline);
  task<void> log_in(std::uint32_t client, time_point deadline);
  place& idle_place(std::uint32_t client);

  loop& loop_;
  route& way_;
  const greeting& hello_;
  instance who_;  // for fill()
  traffic sent_;
  std::vector<std::vector<std::unique_ptr<place>>> places_;  // by client
};

}  // namespace lockmark::postgres
