// mysql/unique_key: a row that can be inserted once, deleted to release.
#pragma once

#include "harness/driver.hpp"

namespace lockmark::mysql {

lock_kind unique_key();

}  // namespace lockmark::mysql
