// The driver of every ZooKeeper lock: what a run creates, removes and finds out on the servers.
//
// All nodes of a run are below <chroot>/lockmark/<run>, in container nodes: if the run dies before
// its wipe, the server removes them once the sessions' ephemeral nodes are gone. A missing chroot
// is created, and stays.
//
// With a user in the target, every session sends the servers the digest of user and password, and
// its nodes belong to that user alone (Curator's ACLProvider with CREATOR_ALL). The one exception
// is <chroot>/lockmark itself, which holds the runs of all users.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "drivers/zookeeper/instance_session.hpp"
#include "harness/driver.hpp"

namespace lockmark::zookeeper {

// The differences between the locks.
struct recipe {
  std::unique_ptr<instance_session> (*open)(loop& l, const instance& who, session_setup setup);

  // Nodes that must exist below each key before the first acquire: "locks". Null: none.
  std::vector<std::string> (*below_key)(const option_values& options) = nullptr;
};

template <class Session>
std::unique_ptr<instance_session> open_session(loop& l, const instance& who, session_setup setup) {
  return std::make_unique<Session>(l, who, std::move(setup));
}

// Throws usage_error unless the target is a ZooKeeper URL.
std::unique_ptr<driver> make_driver(const driver_setup& setup, const recipe& lock);

}  // namespace lockmark::zookeeper
