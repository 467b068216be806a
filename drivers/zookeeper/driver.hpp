// The driver of every ZooKeeper lock: what a run creates, removes and learns on the servers.
//
// Everything stands under <chroot>/lockmark/<run>, in container nodes: should a run die before its
// wipe, the server itself removes them once the sessions' ephemeral nodes are gone. A chroot that
// is not there is created, and stays.
//
// With a user in the target, every session gives the servers the digest of user and password, and
// what is created belongs to that user alone (Curator's ACLProvider with CREATOR_ALL). The one
// exception is <chroot>/lockmark itself, beneath which the runs of all users stand.
#pragma once

#include <memory>

#include "drivers/zookeeper/recipe.hpp"
#include "harness/driver.hpp"

namespace lockmark::zookeeper {

// Throws usage_error when the target is not a ZooKeeper URL.
std::unique_ptr<driver> make_driver(const driver_setup& setup, const recipe& lock);

}  // namespace lockmark::zookeeper
