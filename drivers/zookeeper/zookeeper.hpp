// The locks on ZooKeeper, for the program's table of locks.
#pragma once

#include <vector>

#include "harness/driver.hpp"

namespace lockmark::zookeeper {

std::vector<lock_kind> kinds();

}  // namespace lockmark::zookeeper
