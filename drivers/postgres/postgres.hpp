// The locks on PostgreSQL: the rows of `lockmark list`.
#pragma once

#include <vector>

#include "harness/driver.hpp"

namespace lockmark::postgres {

lock_kind advisory();         // advisory.cpp
lock_kind advisory_shared();  // advisory.cpp
lock_kind advisory_xact();    // advisory.cpp
lock_kind for_update();       // for_update.cpp
lock_kind unique_key();       // unique_key.cpp
lock_kind lease_row();        // lease_row.cpp

// In the order of `lockmark list`.
inline std::vector<lock_kind> kinds() {
  return {advisory(), advisory_shared(), advisory_xact(), for_update(), unique_key(), lease_row()};
}

}  // namespace lockmark::postgres
