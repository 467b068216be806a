// The differences between the locks, for the driver that they share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "drivers/zookeeper/instance_session.hpp"

namespace lockmark::zookeeper {

struct recipe {
  std::unique_ptr<instance_session> (*open)(loop& l, const instance& who, session_setup setup);

  // Nodes that must exist below each key before the first acquire: "locks". Null: none.
  std::vector<std::string> (*below_key)(const option_values& options) = nullptr;
};

template <class Session>
std::unique_ptr<instance_session> open_session(loop& l, const instance& who, session_setup setup) {
  return std::make_unique<Session>(l, who, std::move(setup));
}

}  // namespace lockmark::zookeeper
