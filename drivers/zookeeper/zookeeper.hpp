// The locks on ZooKeeper: the rows of `lockmark list`.
#pragma once

#include <string_view>
#include <vector>

#include "harness/driver.hpp"

namespace lockmark::zookeeper {

// One server or an ensemble: the locks work the same on either.
inline constexpr std::string_view all_topologies = "zookeeper zookeeper-3 zookeeper-5";

lock_kind persistent();       // persistent.cpp
lock_kind ephemeral();        // ephemeral.cpp
lock_kind sequential();       // sequential.cpp
lock_kind semaphore_mutex();  // semaphore.cpp
lock_kind semaphore();        // semaphore.cpp
lock_kind read();             // sequential.cpp
lock_kind write();            // sequential.cpp
lock_kind multi();            // multi.cpp

// In the order of `lockmark list`.
inline std::vector<lock_kind> kinds() {
  return {persistent(), ephemeral(), sequential(), semaphore_mutex(),
          semaphore(),  read(),      write(),      multi()};
}

}  // namespace lockmark::zookeeper
