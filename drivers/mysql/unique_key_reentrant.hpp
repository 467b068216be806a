// mysql/unique_key_reentrant: the same with an owner and a count of acquisitions.
#pragma once

#include "harness/driver.hpp"

namespace lockmark::mysql {

lock_kind unique_key_reentrant();

}  // namespace lockmark::mysql
