// mysql/optimistic_update_time: no lock; a commit succeeds if the row's time is still the one read.
#pragma once

#include "harness/driver.hpp"

namespace lockmark::mysql {

lock_kind optimistic_update_time();

}  // namespace lockmark::mysql
