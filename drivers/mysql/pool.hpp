// The command connections of one session: at least one per client, opened again when broken.
//
// A client that holds several keys at once has a connection for each, because a transaction frees
// all its rows together. Does not know the purpose of the connections.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "drivers/mysql/route.hpp"

namespace lockmark::mysql {

class pool {
 public:
  // `greeting` is the first statement on every new connection. `way` must outlive this.
  pool(loop& l, route& way, std::string greeting, const instance& who);

  // Opens one connection per client. Throws no_server.
  task<void> fill(time_point deadline);

  // An idle connection of this client to its instance's server, reserved until given back. Refuses
  // as unavailable. Throws no_server if later logins will fail too.
  task<outcome<connection*>> borrow(std::uint32_t client, time_point deadline);
  void give_back(std::uint32_t client, connection& c);

  void quit();

  // The instance's current server.
  const endpoint& where() const { return way_.at(who_.number); }
  traffic& sent() { return sent_; }
  const traffic& sent() const { return sent_; }

 private:
  struct place {
    std::unique_ptr<connection> link;
    bool lent = false;
    bool was_connected = false;
  };
  task<reached> make_ready(place& p, time_point deadline);
  task<void> log_in(std::uint32_t client, time_point deadline);
  place& idle_place(std::uint32_t client);

  loop& loop_;
  route& way_;
  instance who_;  // for fill()
  std::string greeting_;
  traffic sent_;
  std::vector<std::vector<std::unique_ptr<place>>> places_;  // by client
};

}  // namespace lockmark::mysql
