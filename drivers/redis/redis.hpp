// Locks on one Redis server (topology `redis`): the rows of `lockmark list`.
//
// Sentinel, Cluster, independent masters and TLS are not here yet.
#pragma once

#include <vector>

#include "harness/driver.hpp"

namespace lockmark::redis {

std::vector<lock_kind> kinds();

// One lock each, in the file of its name.
lock_kind setnx();
lock_kind lua();
lock_kind set_nx_px();
lock_kind redisson();

}  // namespace lockmark::redis
