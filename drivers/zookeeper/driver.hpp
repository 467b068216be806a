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
#include <utility>
#include <vector>

#include "drivers/zookeeper/instance_session.hpp"

namespace lockmark::zookeeper {

using node_names = std::vector<std::string> (*)(const option_values& options);

// The differences between the locks.
struct recipe {
  std::unique_ptr<instance_session> (*open)(loop& l, const instance& who, session_setup setup);
  node_names below_key;  // must exist below each key before the first acquire; null: none
};

// Throws usage_error unless the target is a ZooKeeper URL.
std::unique_ptr<driver> make_driver(const driver_setup& setup, const recipe& lock);

// lock_kind::make of a lock with this session.
template <class Session, node_names below_key = nullptr>
std::unique_ptr<driver> make_driver_of(const driver_setup& setup) {
  const auto open = [](loop& l, const instance& who,
                       session_setup how) -> std::unique_ptr<instance_session> {
    return std::make_unique<Session>(l, who, std::move(how));
  };
  return make_driver(setup, {open, below_key});
}

// An option that is a count from 1 to 1000.
lock_option count_option(std::string_view name, std::string_view preset, std::string_view help);

// Its value; 1 for a lock without it.
std::uint32_t count_of(const option_values& options, std::string_view name);

}  // namespace lockmark::zookeeper
