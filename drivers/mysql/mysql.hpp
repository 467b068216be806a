// The locks on MySQL and MariaDB.
#pragma once

#include <vector>

#include "harness/driver.hpp"

namespace lockmark::mysql {

std::vector<lock_kind> kinds();

}  // namespace lockmark::mysql
