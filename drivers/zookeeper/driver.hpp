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

#include "drivers/zookeeper/recipe.hpp"
#include "harness/driver.hpp"

namespace lockmark::zookeeper {

// Throws usage_error unless the target is a ZooKeeper URL.
std::unique_ptr<driver> make_driver(const driver_setup& setup, const recipe& lock);

}  // namespace lockmark::zookeeper
