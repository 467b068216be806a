// mysql/shedlock: ShedLock's table and statements.
#pragma once

#include "harness/driver.hpp"

namespace lockmark::mysql {

lock_kind shedlock();

}  // namespace lockmark::mysql
