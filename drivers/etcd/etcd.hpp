// The locks on etcd: the rows of `lockmark list`.
#pragma once

#include <string_view>
#include <vector>

#include "harness/driver.hpp"

namespace lockmark::etcd {

// One member or a cluster: the locks work the same on either.
inline constexpr std::string_view all_topologies = "etcd etcd-3 etcd-5";

lock_kind mutex();         // mutex.cpp
lock_kind lock_service();  // lock_service.cpp
lock_kind rw();            // rw.cpp
lock_kind rw_read();       // rw.cpp

// In the order of `lockmark list`.
inline std::vector<lock_kind> kinds() {
  return {mutex(), lock_service(), rw(), rw_read()};
}

}  // namespace lockmark::etcd
