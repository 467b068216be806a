// One connection of a channel, from the attempt to its end.
#pragma once

#include <array>
#include <string>

#include "drivers/etcd/channel.hpp"
#include "drivers/etcd/grpc_session.hpp"
#include "drivers/etcd/transport.hpp"

namespace lockmark::etcd {

struct channel::line {
  line(loop& l, const servers& where, const config::host_port& at, grpc_session::listener& who)
      : wire(l, where.secure),
        session(config::to_string(at), where.secure != nullptr, who),
        settled(l) {}
  transport wire;
  grpc_session session;
  signal settled;  // it is open, or lost
  bool introduced = false;
  bool owes = false;  // answers to what was received before
  std::string out;    // not yet taken by the kernel
  bool writing = false;
  std::array<char, 8192> room{};
};

}  // namespace lockmark::etcd
