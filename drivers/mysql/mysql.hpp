// The locks on MySQL and MariaDB: the rows of `lockmark list`.
#pragma once

#include <vector>

#include "harness/driver.hpp"

namespace lockmark::mysql {

// One lock each, in the file of its name; variants share a file.
lock_kind for_update();
lock_kind unique_key();
lock_kind unique_key_reentrant();
lock_kind get_lock();
lock_kind shedlock();
lock_kind optimistic_version();
lock_kind optimistic_update_time();

// In the order of `lockmark list`.
inline std::vector<lock_kind> kinds() {
  return {for_update(), unique_key(),         unique_key_reentrant(),  get_lock(),
          shedlock(),   optimistic_version(), optimistic_update_time()};
}

}  // namespace lockmark::mysql
