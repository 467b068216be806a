// The backend ZooKeeper: what a run creates, removes and learns on the servers.
//
// Everything stands under <chroot>/lockmark/<run>, in container nodes: should a run die before its
// wipe, the server itself removes them once the sessions' ephemeral nodes are gone.
#pragma once

#include <memory>

#include "harness/driver.hpp"

namespace lockmark::zookeeper {

// Throws usage_error when the target is not a ZooKeeper URL.
std::unique_ptr<driver> make_driver(const driver_setup& setup);

}  // namespace lockmark::zookeeper
