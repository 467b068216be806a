// The driver of every etcd lock: what a run finds out about the servers, and what it removes.
//
// All keys of a run begin with "lockmark/<run>/". Nothing has to be there before the first acquire.
// If the run dies before its wipe, its keys end with their leases.
#pragma once

#include <memory>

#include "drivers/etcd/lock_session.hpp"

namespace lockmark::etcd {

using open_session = std::unique_ptr<lock_session> (*)(loop& l, const instance& who,
                                                       const session_setup& setup);

// The option of locks that watch; see mutex.cpp.
lock_option watch_option();

// Throws usage_error unless the target is an etcd URL.
std::unique_ptr<driver> make_driver(const driver_setup& setup, open_session open);

// lock_kind::make of a lock with this session.
template <class Session>
std::unique_ptr<driver> make_driver_of(const driver_setup& setup) {
  const auto open = [](loop& l, const instance& who,
                       const session_setup& how) -> std::unique_ptr<lock_session> {
    return std::make_unique<Session>(l, who, how);
  };
  return make_driver(setup, open);
}

}  // namespace lockmark::etcd
