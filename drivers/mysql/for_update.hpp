// mysql/for_update: the row of a key is locked by SELECT ... FOR UPDATE, freed by COMMIT.
#pragma once

#include "harness/driver.hpp"

namespace lockmark::mysql {

lock_kind for_update();

}  // namespace lockmark::mysql
